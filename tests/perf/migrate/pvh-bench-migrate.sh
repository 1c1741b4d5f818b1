# Migrations with stock Xen and with ours, in turn in one boot; the figures go to tests/perf/bench_migrate.py.
# SPDX-License-Identifier: LGPL-2.1-or-later
# Xen says as little as it does by default: each character on an emulated serial line takes longer than a page.
#: dom0=pv dom0_mb=2048 mode=@MODE@ needs=module,engine timeout=20000 xen_args="guest_loglvl=none/warning"
runs=@RUNS@
cases='@CASES@'
# The emulator takes a page of the guest's for as large as the piece of memory behind it, and forgets all it knows of the
# guest's pages when the guest changes one that is said to be large. No processor does, so it is off here.
export XENFERRY_LARGE_PAGES=@LARGE@

# What each case's guest does: of its 512 MiB the workload watches so much, and rewrites a part of it at a rate.
bench_guest() { # bench_guest CASE
    case $1 in
    idle-zero) guest_start memory=512 mib=16 dirty=0 rate=0 ;;
    idle-random|ours-to-stock|stock-to-ours) guest_start memory=512 mib=400 dirty=0 rate=0 ;;
    working-set) guest_start memory=512 mib=400 dirty=64 rate=16 ;;
    heavy) guest_start memory=512 mib=410 dirty=410 rate=max ;;
    pv-idle) guest_start type=pv memory=512 mib=400 dirty=0 rate=0 ;;
    pv-busy) guest_start type=pv memory=512 mib=400 dirty=64 rate=16 ;;
    *) fail "what case is '$1'?" ;;
    esac
}

# Which engine a side has: "stock" is libxenguest, timed by our helper.
bench_engine() { [ "$1" = ours ] && echo ours || echo timed; }

# A record for each migration: what was asked, what the guest saw, then the statistics of both sides.
bench_one() { # bench_one CASE SENDER RECEIVER RUN
    local from to
    from=$(bench_engine "$2") to=$(bench_engine "$3")
    step "$1, $2 to $3, run $4: start the guest" 200
    bench_guest "$1"
    guest_gap_reset
    step "$1, $2 to $3, run $4: migrate" 400
    MIGRATE_SECONDS=1100
    # What xenferry's transport and `xenferry migrate` say of the other end.
    [ "$2$3" = oursours ] && export XENFERRY_PEER='version=0.1.0 features=0x1' || unset XENFERRY_PEER
    migrate g1 "from=$from" "to=$to"
    bench_record "$1" "$2" "$3" "$4" "$MIGRATE_S" "$STATS"
}

bench_record() { # bench_record CASE SENDER RECEIVER RUN SECONDS STATISTICS: checks the guest, and ends it
    step "$1, $2 to $3, run $4: check the guest" 300
    guest_ticks_advance
    guest_pause
    guest_rate 0
    guest_check
    echo "{\"case\": \"$1\", \"sender\": \"$2\", \"receiver\": \"$3\", \"run\": $4, \"migrate_s\": $5," \
        "\"guest_pause_ms\": $GUEST_PAUSE_MS, \"guest_errors\": $GUEST_ERRORS," \
        "\"stats\": [$(tr '\n' ',' < "$6" | sed 's/,$//')]}" >> "$LAB_DIR/rows"
    bench_keep_rows
    guest_destroy g1
    wait_until 30 'the guest is gone' nothing_runs
}

bench_keep_rows() { lab-report log "$LAB_SCENARIO/rows" < "$LAB_DIR/rows"; }

# Stock has no live migration of a PV guest on this hypervisor: what it says stands in the place of figures.
bench_refused() { # bench_refused CASE RUN
    step "$1, stock to stock, run $2: start the guest" 200
    bench_guest "$1"
    step "$1, stock to stock, run $2: migrate, which is refused" 400
    expect_fail 'Failed to enable logdirty' try_migrate g1 from=stock to=stock
    cp "$LAB_DIR/run.out" "$LAB_DIR/migrate.out"
    wait_until 15 'nothing incoming is left' nothing_incoming
    guest_ticks_advance
    echo "{\"case\": \"$1\", \"sender\": \"stock\", \"receiver\": \"stock\", \"run\": $2," \
        "\"refused\": \"$(grep -ao 'Failed to enable logdirty: [0-9,]*' "$LAB_DIR/migrate.out" | head -1 | tr -d '\r')\"}" \
        >> "$LAB_DIR/rows"
    bench_keep_rows
    guest_destroy g1
    wait_until 30 'the guest is gone' nothing_runs
}

bench_seconds() { cut -d' ' -f1 /proc/uptime; }

# What a stock host does instead: xl save, then xl restore, through a file in Dom0's memory; the same with ours.
bench_saved() { # bench_saved CASE ENGINE RUN
    local engine file=/var/lib/xen/g1.save began
    engine=$(bench_engine "$2")
    step "$1, saved by $2, run $3: start the guest" 200
    bench_guest "$1"
    guest_gap_reset
    step "$1, saved by $2, run $3: save and restore" 400
    unset XENFERRY_PEER
    began=$(bench_seconds)
    save g1 "$file" "engine=$engine"
    cp "$STATS" "$LAB_DIR/both"
    restore "$file" "engine=$engine"
    cat "$STATS" >> "$LAB_DIR/both"
    rm "$file"
    bench_record "$1-save" "$2" "$2" "$3" "$(echo "$began $(bench_seconds)" | awk '{printf "%.2f", $2 - $1}')" \
        "$LAB_DIR/both"
}

{
    echo "xen=$(xl info xen_version)"
    echo "dom0_kernel=$(uname -r)"
    echo "large_pages=$XENFERRY_LARGE_PAGES"
    echo "cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
} > "$LAB_DIR/env"
lab-report log "$LAB_SCENARIO/env" < "$LAB_DIR/env"

# Stock and ours of a case come one right after the other: how fast the machine is may change within minutes.
for run in $(seq "$runs"); do
    for case in $cases; do
        case $case in
        ours-to-stock) use_module ours; bench_one idle-random ours stock "$run"; continue ;;
        stock-to-ours) use_module ours; bench_one idle-random stock ours "$run"; continue ;;
        esac
        # A stock host has the stock module.
        step "$case, run $run: the stock module" 120
        use_module stock
        case $case in
        pv-*) bench_refused "$case" "$run"; bench_saved "$case" stock "$run" ;;
        *) bench_one "$case" stock stock "$run" ;;
        esac
        step "$case, run $run: our module" 120
        use_module ours
        bench_one "$case" ours ours "$run"
        case $case in pv-*) bench_saved "$case" ours "$run" ;; esac
    done
done
use_module stock
