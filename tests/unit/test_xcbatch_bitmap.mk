UNIT_LIBS_test_xcbatch_bitmap := $(O)/asan/libxc-batch/libxcbatch.a
