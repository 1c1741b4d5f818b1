UNIT_SRC_test_perf := tests/unit/runcmd.c
UNIT_ENV_test_perf := TRACE_COUNT=$(O)/asan/tests/perf/trace-count
run-test_perf: $(O)/asan/tests/perf/trace-count
