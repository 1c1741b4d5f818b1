UNIT_SRC_test_perf := tests/unit/runcmd.c
UNIT_LIBS_test_perf := -ljson-c
UNIT_ENV_test_perf := TRACE_COUNT=$(O)/asan/tests/perf/trace-count BENCH_MAP=tests/perf/bench_map.py
run-test_perf: $(O)/asan/tests/perf/trace-count
