# What mapping costs: see docs/benchmarks.md. SPDX-License-Identifier: LGPL-2.1-or-later
.PHONY: bench-map
PERF_TRACE_COUNT := $(O)/perf/trace-count
LAB_PROGRAMS += $(PERF_TRACE_COUNT)

$(PERF_TRACE_COUNT): tests/perf/trace_count.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE -static -o $@ $<

bench-map: packages-lab lab-tools module $(O)/release/tools/migrate/xenferry $(PERF_TRACE_COUNT)	## stock module against ours: map, unmap, replace
	$(LAB_RUN) --scenarios tests/perf/scenarios --result bench-map.json
	python3 -B tests/perf/bench_map.py $(O)/lab/logs/driver-bench-map $(O)/bench/map.json

# The one the unit tests run.
$(O)/asan/tests/perf/trace-count: $(O)/asan/tests/perf/trace_count.o
	$(CC) $(LDFLAGS_asan) -o $@ $<
