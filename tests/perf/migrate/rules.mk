# What a migration costs: see docs/benchmarks.md. SPDX-License-Identifier: LGPL-2.1-or-later
.PHONY: bench-migrate
RUNS  ?= 2
CASES ?= idle-zero idle-random working-set heavy ours-to-stock stock-to-ours
BENCH_MIGRATE := $(O)/bench/scenarios

bench-migrate: packages-lab $(LAB_WANTS)	## migrations with stock and with ours, in turn (RUNS=5 for the whole, CASES=)
	rm -rf $(BENCH_MIGRATE) && mkdir -p $(BENCH_MIGRATE)
	sed -e 's/@RUNS@/$(RUNS)/' -e 's/@CASES@/$(CASES)/' tests/perf/migrate/pvh-bench-migrate.sh > $(BENCH_MIGRATE)/pvh-bench-migrate.sh
	$(LAB_RUN) --scenarios $(abspath $(BENCH_MIGRATE)) --result bench-migrate.json
	python3 -B tests/perf/migrate/bench_migrate.py $(O)/lab/logs/pvh-bench-migrate $(O)/bench/migrate.json
