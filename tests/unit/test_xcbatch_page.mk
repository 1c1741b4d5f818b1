UNIT_LIBS_test_xcbatch_page := $(O)/asan/libxc-batch/libxcbatch.a
