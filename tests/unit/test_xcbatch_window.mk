UNIT_SRC_test_xcbatch_window := tests/unit/xcbatch_fake_kernel.c
UNIT_LIBS_test_xcbatch_window := $(O)/asan/libxc-batch/libxcbatch.a
UNIT_LD_test_xcbatch_window := $(foreach f,open close ioctl mmap munmap nanosleep getpid calloc malloc,-Wl,--wrap=$(f))
