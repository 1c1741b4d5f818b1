UNIT_LIBS_test_xcbatch_space := $(O)/asan/libxc-batch/libxcbatch.a
UNIT_LD_test_xcbatch_space := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
