# What every scenario of make bench-map does: stock, ours, ours a frame at a time, and the floor, in one boot.
# Set before: bench_frames, bench_repeat, bench_seconds (a figure), bench_rounds (of the loop), bench_events (xentrace's
# mask; empty: nothing is counted), bench_guest_type (pvh, pv).
# SPDX-License-Identifier: LGPL-2.1-or-later

bench_guest_type=pvh
BENCH_STEP=3600     # seconds: a limit for what hangs, not for what is slow

# A guest that never runs: on one CPU a running one would take part in the figures.
bench_guest() {
    [ "$bench_guest_type" = pvh ] || { bench_pv_guest; return; }
    printf 'name = "g1"\ntype = "pvh"\nkernel = "%s"\nmemory = 256\n' "$(command -v still-guest)" > /etc/xen/g1.cfg
    echo g1 >> "$LAB_DIR/guests"
    run timeout 300 xl create -e -p /etc/xen/g1.cfg
}

# Only a kernel that has run lists its frames. It is paused then.
bench_pv_guest() {
    guest_start type=pv memory=256 mib=16 dirty=0 rate=0
    run timeout 60 xl pause g1
}

bench_keep() { lab-report log "$LAB_SCENARIO/$1" < "$LAB_DIR/$1"; }

bench_measure() { # bench_measure LABEL
    step "measure: $1" $BENCH_STEP
    run xenferry bench map -n "$bench_frames" -r "$bench_repeat" -t "$bench_seconds" -m "$LAB_MODE" \
        -j "$LAB_DIR/$1.json" g1
    bench_keep "$1.json"
    step "measure the loop: $1" $BENCH_STEP
    run xenferry bench map -n 1024 -l "$bench_rounds" -r 5 -t "$bench_seconds" -m "$LAB_MODE" \
        -j "$LAB_DIR/$1.loop.json" g1
    bench_keep "$1.loop.json"
}

# The same again under Xen's own trace, which takes time: this run's ticks are thrown away.
bench_count() { # bench_count LABEL
    local tracer
    [ -n "$bench_events" ] || return 0
    step "count what is asked of Xen: $1" $BENCH_STEP
    xentrace -D -e "$bench_events" -s 200 "$LAB_DIR/trace" > "$LAB_DIR/xentrace.out" 2>&1 &
    tracer=$!
    sleep 2
    run xenferry bench map -n "$bench_frames" -r 5 -t 1 -m "$LAB_MODE" -j "$LAB_DIR/$1.traced.json" \
        --marks "$LAB_DIR/marks" g1
    bench_keep "$1.traced.json"
    kill -INT "$tracer"
    wait "$tracer"
    run trace-count "$LAB_DIR/trace" "$LAB_DIR/marks"
    cp "$LAB_DIR/run.out" "$LAB_DIR/$1.counts"
    bench_keep "$1.counts"
    rm "$LAB_DIR/trace"
}

bench_module() { # bench_module LABEL MODULE [PARAMETER...]
    local label=$1; shift
    step "load the module: $*" 300
    use_module "$@"
    step "start the guest" 400
    bench_guest
    bench_measure "$label"
    bench_count "$label"
    [ "$label" != ours ] || bench_floor
    guest_destroy g1
    wait_until 60 'the guest is gone' no_guests
}

# Bare hypercalls, made by a module that is for this only.
bench_floor() {
    step 'measure the floor' $BENCH_STEP
    run insmod "$(command -v xenferry-floor.ko)"
    run bench-floor "$bench_frames" "$bench_repeat" "$bench_seconds" "$LAB_MODE" g1
    cp "$LAB_DIR/run.out" "$LAB_DIR/floor.json"
    bench_keep floor.json
    run rmmod xenferry_floor
}

bench_environment() {
    echo "xen=$(xl info xen_version)"
    echo "kernel=$(uname -r)"
    echo "cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
    echo "dom0=$LAB_DOM0"
    echo "guest=$bench_guest_type"
    echo "mode=$LAB_MODE"
    echo "dom0_vcpus=$(grep -c '^processor' /proc/cpuinfo)"
    echo "samples=$bench_repeat, fewer once a figure took $bench_seconds s"
}

bench_all() {
    bench_environment > "$LAB_DIR/env"
    bench_keep env
    bench_module stock stock
    bench_module ours ours
    # A module built before it had the parameter can't.
    ! grep -aq parm=per_frame "$(module_file ours)" || bench_module per_frame ours per_frame=1
    step 'change the module back' 300
    use_module stock
}
