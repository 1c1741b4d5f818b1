# What every scenario of make bench-module does: the same guest migrates with stock xl and stock helpers at both sides,
# five times with each module in turns, in one boot.
# Set before: bench_dirty (MiB that the guest rewrites), bench_rate (MiB/s, or max).
# SPDX-License-Identifier: LGPL-2.1-or-later

BENCH_PAIRS=5
MIGRATE_SECONDS=1200

# What a frame costs under this module in this boot, before the guest does anything: a part of the explanation.
bench_frame_cost() { # bench_frame_cost MODULE
    [ ! -e "$LAB_DIR/map.$1.json" ] || return 0
    step "what mapping costs with the $1 module" 900
    run xenferry bench map -n 1024 -r 30 -t 20 -j "$LAB_DIR/map.$1.json" g1
    lab-report log "$LAB_SCENARIO/map.$1.json" < "$LAB_DIR/map.$1.json"
}

bench_counters() { bench-counters | tr '\n' ' '; }

bench_migration() { # bench_migration PAIR MODULE
    local cpu counters
    step "pair $1, module $2: load it" 300
    use_module "$2"
    step "pair $1, module $2: start the guest" 600
    guest_start type=pvh memory=512 mib=410 dirty="$bench_dirty" rate="$bench_rate"
    bench_frame_cost "$2"
    counters=$(bench_counters)
    cpu=$(head -1 /proc/stat)
    step "pair $1, module $2: migrate" $MIGRATE_SECONDS
    run try_migrate_timed g1 from=stock to=stock
    # Of Dom0's processor, in ticks of 10 ms: user, nice, system, idle, iowait, irq, softirq, steal.
    {
        echo "pair=$1 module=$2 seconds=$(sed -n 's/^migrated in //p' "$LAB_DIR/run.out")"
        echo "before $cpu"
        echo "after $(head -1 /proc/stat)"
        echo "counted_before $counters"
        echo "counted_after $(bench_counters)"
    } >> "$LAB_DIR/runs"
    lab-report log "$LAB_SCENARIO/runs" < "$LAB_DIR/runs"
    step "pair $1, module $2: check the guest" 300
    guest_ticks_advance
    guest_destroy g1
    wait_until 120 'the guest is gone' no_guests
}

try_migrate_timed() {
    local start end status
    start=$(cut -d' ' -f1 /proc/uptime)
    try_migrate "$@"
    status=$?
    end=$(cut -d' ' -f1 /proc/uptime)
    echo "migrated in $(echo "$start $end" | awk '{printf "%.2f", $2 - $1}')"
    return $status
}

bench_pairs() {
    local pair
    {
        echo "xen=$(xl info xen_version)"
        echo "kernel=$(uname -r)"
        echo "cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
        echo "dom0=$LAB_DOM0"
        echo "date=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    } > "$LAB_DIR/env"
    lab-report log "$LAB_SCENARIO/env" < "$LAB_DIR/env"
    for pair in $(seq $BENCH_PAIRS); do
        bench_migration "$pair" stock
        bench_migration "$pair" ours
    done
    step 'change the module back' 300
    use_module stock
}
