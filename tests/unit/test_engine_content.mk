UNIT_LD_test_engine_content := $(foreach f,xcbatch_content_create xcbatch_content_note aligned_alloc,-Wl,--wrap=$(f))
