# Fuzzing of what reads streams: libFuzzer with ASan and UBSan, the corpus made by the tests' generator.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# check-unit has a short run with a fixed seed; `make fuzz FUZZ_SECONDS=600` a long one that
# keeps what it finds in build/fuzz.

FUZZ_CC      := clang
FUZZ_DIR     := $(O)/fuzz
FUZZ_TARGETS := reader inspect transport
FUZZ_RUNS    := 20000
FUZZ_SECONDS := 60
FUZZ_CFLAGS  := -std=gnu11 -O1 -g -fno-omit-frame-pointer -Itests/unit $(WARNINGS) \
                -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# One allocation of 16 MiB is what a body may claim: more is a finding.
FUZZ_FLAGS   := -max_len=16384 -malloc_limit_mb=20 -rss_limit_mb=512 -timeout=10 -print_final_stats=1

FUZZ_LIB_OBJ := $(patsubst %.c,$(FUZZ_DIR)/%.o,$(XF_STREAM_SRC) $(XF_INSPECT_SRC) $(XF_NET_SRC))

$(FUZZ_DIR)/%.o: %.c VERSION
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<
-include $(FUZZ_LIB_OBJ:.o=.d)

$(FUZZ_TARGETS:%=$(FUZZ_DIR)/%): $(FUZZ_DIR)/%: $(FUZZ_DIR)/tests/fuzz/fuzz_%.o $(FUZZ_LIB_OBJ)
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ -ljson-c $(XF_NET_LIBS)

$(FUZZ_DIR)/seeds: $(O)/asan/tests/fuzz/seeds.o $(O)/asan/tests/unit/streamgen.o $(O)/asan/$(XF_NET_A) $(O)/asan/$(XF_STREAM_A)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_asan) -o $@ $^ $(XF_NET_LIBS)
$(O)/asan/tests/fuzz/seeds.o: CPPFLAGS += -Itests/unit
$(FUZZ_DIR)/corpus.made: $(FUZZ_DIR)/seeds
	rm -rf $(FUZZ_DIR)/corpus
	mkdir -p $(FUZZ_DIR)/corpus
	$< $(FUZZ_DIR)/corpus
	touch $@

.PHONY: $(FUZZ_TARGETS:%=run-fuzz-%) fuzz
# New inputs go to a directory that is dropped: a run must not depend on the one before.
$(FUZZ_TARGETS:%=run-fuzz-%): run-fuzz-%: $(FUZZ_DIR)/% $(FUZZ_DIR)/corpus.made
	@rm -rf $(FUZZ_DIR)/run-$* && mkdir -p $(FUZZ_DIR)/run-$* $(FUZZ_DIR)/found
	@echo "$< -runs=$(FUZZ_RUNS) -seed=1"
	@timeout 100 $< $(FUZZ_FLAGS) -runs=$(FUZZ_RUNS) -seed=1 -verbosity=0 \
		-artifact_prefix=$(FUZZ_DIR)/found/$*- $(FUZZ_DIR)/run-$* $(FUZZ_DIR)/corpus/$* \
		>$(FUZZ_DIR)/$*.log 2>&1 || { tail -n 60 $(FUZZ_DIR)/$*.log; exit 1; }
	@grep -E 'executed_units|peak_rss' $(FUZZ_DIR)/$*.log
CHECK_UNIT += $(FUZZ_TARGETS:%=run-fuzz-%)

fuzz: $(FUZZ_TARGETS:%=$(FUZZ_DIR)/%) $(FUZZ_DIR)/corpus.made	## fuzz the stream reader (FUZZ_SECONDS=60 each)
	@mkdir -p $(FUZZ_DIR)/found
	for t in $(FUZZ_TARGETS); do \
		mkdir -p $(FUZZ_DIR)/grown/$$t; \
		$(FUZZ_DIR)/$$t $(FUZZ_FLAGS) -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix=$(FUZZ_DIR)/found/$$t- $(FUZZ_DIR)/grown/$$t $(FUZZ_DIR)/corpus/$$t || exit 1; \
	done
