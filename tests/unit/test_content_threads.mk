UNIT_SRC_test_content_threads := $(addprefix tools/migrate/, engine/content.c guest/failure.c engine/report.c stream/error.c)
UNIT_LIBS_test_content_threads := $(O)/asan/libxc-batch/libxcbatch.a -lpthread
UNIT_LD_test_content_threads := -Wl,--wrap=pthread_create -Wl,--wrap=calloc

# Once more with the thread sanitizer, which can't be in one program with the others.
content_tsan_src := tests/unit/test_content_threads.c $(UNIT_SRC_test_content_threads) \
	$(addprefix libxc-batch/src/, bitmap.c content.c page_hash.c)
$(O)/tsan/test_content_threads: $(content_tsan_src) libxc-batch/src/page_hash_avx2.c tools/migrate/engine/content.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu11 -O1 -g -fsanitize=thread $(WARNINGS) -mavx2 -c -o $@-avx2.o libxc-batch/src/page_hash_avx2.c
	$(CC) $(CPPFLAGS) -std=gnu11 -O1 -g -fsanitize=thread $(WARNINGS) $(UNIT_LD_test_content_threads) -o $@ \
		$(content_tsan_src) $@-avx2.o -lcmocka -lpthread

.PHONY: run-tsan-content-threads
run-tsan-content-threads: $(O)/tsan/test_content_threads
	timeout 300 env TSAN_OPTIONS=halt_on_error=1 $<
CHECK_UNIT += run-tsan-content-threads
