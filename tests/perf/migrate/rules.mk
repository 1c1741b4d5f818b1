# What a migration costs: see docs/benchmarks.md. SPDX-License-Identifier: LGPL-2.1-or-later
.PHONY: bench-migrate
RUNS  ?= 2
MODE  ?= wall
LARGE ?= no
CASES ?= idle-zero idle-random working-set heavy ours-to-stock stock-to-ours pv-idle pv-busy
BENCH_MIGRATE := $(O)/bench/scenarios

bench-migrate: packages-lab $(LAB_WANTS)	## migrations with stock and with ours, in turn (RUNS=5 for the whole, CASES=)
	rm -rf $(BENCH_MIGRATE) && mkdir -p $(BENCH_MIGRATE)
	sed -e 's/@RUNS@/$(RUNS)/' -e 's/@CASES@/$(CASES)/' -e 's/@MODE@/$(MODE)/' -e 's/@LARGE@/$(LARGE)/' tests/perf/migrate/pvh-bench-migrate.sh > $(BENCH_MIGRATE)/pvh-bench-migrate.sh
	$(LAB_RUN) --scenarios $(abspath $(BENCH_MIGRATE)) --result bench-migrate.json
	python3 -B tests/perf/migrate/bench_migrate.py $(O)/lab/logs/pvh-bench-migrate $(O)/bench/migrate.json

# What the engine itself costs, by the size of a guest and by how much of it is dirty; no Xen.
.PHONY: bench-scale
BENCH_SCALE := $(O)/bench/bench-scale
bench_scale_src := tests/perf/scale/bench_scale.c tools/migrate/guest/guest.c tools/migrate/guest/failure.c \
	$(sort $(wildcard tools/migrate/engine/*.c tools/migrate/policy/*.c tools/migrate/pv/*.c))

$(BENCH_SCALE): $(bench_scale_src:%.c=$(O)/release/%.o) $(O)/release/$(XF_STREAM_A) $(LIB_A_release)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -ljson-c

bench-scale: $(BENCH_SCALE)	## the engine's loop over guests of 16 GiB to 4 TiB, without Xen
	$(BENCH_SCALE) $(O)/bench/scale.json

# What comparing memory costs where a guest is tracked by content; no Xen.
.PHONY: bench-content
BENCH_CONTENT := $(O)/bench/bench-content
bench_content_src := tests/perf/content/bench_content.c $(addprefix tools/migrate/, \
	engine/content.c guest/failure.c engine/report.c stream/error.c)

$(BENCH_CONTENT): $(bench_content_src:%.c=$(O)/release/%.o) $(LIB_A_release)
	@mkdir -p $(@D)
	$(CC) -o $@ $^ -ljson-c -lpthread

bench-content: $(BENCH_CONTENT)	## comparing memory with what was sent: rate by threads, pause by size; no Xen
	$(BENCH_CONTENT) $(O)/bench/content.json

.PHONY: run-test-bench-migrate
run-test-bench-migrate:
	timeout 60 python3 -B tests/perf/migrate/test_bench_migrate.py
CHECK_UNIT += run-test-bench-migrate
# Benchmarks are run by hand, but must build.
CHECK_UNIT += $(BENCH_SCALE) $(BENCH_CONTENT)
