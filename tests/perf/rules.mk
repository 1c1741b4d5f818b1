# What mapping costs, and what the module does for whole migrations: see docs/benchmarks.md.
# SPDX-License-Identifier: LGPL-2.1-or-later
.PHONY: bench-map bench-module
PERF_TRACE_COUNT := $(O)/perf/trace-count
PERF_FLOOR := $(O)/perf/bench-floor
PERF_COUNTERS := $(O)/perf/bench-counters
LAB_PROGRAMS += $(PERF_TRACE_COUNT) $(PERF_FLOOR) $(PERF_COUNTERS)

$(PERF_TRACE_COUNT): tests/perf/trace_count.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE -static -o $@ $<

# It takes the same frames as `xenferry bench map`, found by the same code.
PERF_FLOOR_OBJ := $(patsubst %,$(O)/release/tools/migrate/bench/%.o,target pv measure host quiet) \
	$(O)/release/tests/perf/bench_floor.o
$(O)/release/tests/perf/bench_floor.o: CPPFLAGS += -Itests/perf
$(PERF_FLOOR): $(PERF_FLOOR_OBJ) $(O)/release/libxc-batch/libxcbatch.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lxenforeignmemory -lxenctrl -lxenstore -lxentoollog

$(PERF_COUNTERS): $(O)/release/tests/perf/bench_counters.o $(O)/release/libxc-batch/libxcbatch.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -lxenctrl

BENCH_WANTS := packages-lab lab-tools module $(O)/release/tools/migrate/xenferry $(LAB_PROGRAMS)

# Only what ONLY= chooses is measured anew; what was measured before stays in the result.
bench-map: $(BENCH_WANTS)	## stock module, ours, the floor: map, unmap, replace (ONLY=pv-wall: a part)
	$(LAB_RUN) --scenarios tests/perf/map --result bench-map.json --only '$(ONLY)'
	python3 -B tests/perf/bench_map.py $(O)/lab/logs $(O)/bench docs/bench-map.svg

# Five pairs of migrations in each case, about a quarter of an hour in all.
bench-module: $(BENCH_WANTS)	## stock xl's migrations, stock module against ours (ONLY=idle: a part)
	$(LAB_RUN) --scenarios tests/perf/module --result bench-module.json --only '$(ONLY)'
	python3 -B tests/perf/bench_module.py $(O)/lab/logs $(O)/bench

.PHONY: run-perf
run-perf:
	timeout 60 python3 -B tests/perf/test_perf.py
CHECK_UNIT += run-perf

# The one the unit tests run.
$(O)/asan/tests/perf/trace-count: $(O)/asan/tests/perf/trace_count.o
	$(CC) $(LDFLAGS_asan) -o $@ $<

# The network transport by itself, no Xen: see docs/transport.md.
.PHONY: bench-transport packages-bench
packages-bench:
	@packaging/install-packages bench
bench-transport: packages-bench $(O)/release/tools/migrate/xenferry $(makekey)	## xenferry connect: plain, TLS, compression, against ssh (about 3 minutes)
	python3 -B tests/perf/bench_transport.py $(O)/release/tools/migrate/xenferry $(makekey) $(O)/bench/transport.json
