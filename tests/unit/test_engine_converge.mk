UNIT_LD_test_engine_converge := -Wl,--wrap=nanosleep
