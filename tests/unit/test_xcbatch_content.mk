UNIT_LIBS_test_xcbatch_content := $(O)/asan/libxc-batch/libxcbatch.a
UNIT_LD_test_xcbatch_content := -Wl,--wrap=calloc -Wl,--wrap=getrandom
$(O)/asan/tests/unit/test_xcbatch_content.o: CPPFLAGS += -Ilibxc-batch/src
