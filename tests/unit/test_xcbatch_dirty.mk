UNIT_LIBS_test_xcbatch_dirty := $(O)/asan/libxc-batch/libxcbatch.a -lxenctrl
UNIT_LD_test_xcbatch_dirty := $(foreach f,xc_interface_open xc_interface_close xc_shadow_control \
    xc_logdirty_control xc_version xc__hypercall_buffer_alloc_pages xc__hypercall_buffer_free_pages \
    calloc,-Wl,--wrap=$(f))
