# What mapping, unmapping and replacing cost with the stock module, then with ours, in one boot.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv mode=deterministic needs=module,command,trace-count timeout=2400
# Xen's trace buffers (pages a CPU) are there from the start, so that free memory is the same before and after.
#: xen_args="tbuf_size=2000"

frames=1,16,64,256,1024,4096

# Only a paused guest: on one CPU a running one would take part in the figures.
bench_guest() {
    guest_start type=pvh memory=128 mib=16 dirty=0 rate=0
    run xl pause g1
}

bench_measure() { # bench_measure stock|ours
    step "measure the $1 module" 900
    run xenferry bench map --frames "$frames" --repeat 9 --mode deterministic --json "$LAB_DIR/$1.json" g1
    lab-report log "$LAB_SCENARIO/$1.json" < "$LAB_DIR/$1.json"
}

# The same again under Xen's own trace, which takes time: this run's ticks are thrown away.
bench_count() { # bench_count stock|ours
    local tracer
    step "count what the $1 module asks of Xen" 900
    xentrace -D -e 0x0020f000 -s 200 "$LAB_DIR/trace" > "$LAB_DIR/xentrace.out" 2>&1 &
    tracer=$!
    sleep 2
    run xenferry bench map --frames "$frames" --repeat 7 --json "$LAB_DIR/$1.traced.json" --marks "$LAB_DIR/marks" g1
    lab-report log "$LAB_SCENARIO/$1.traced.json" < "$LAB_DIR/$1.traced.json"
    kill -INT "$tracer"
    wait "$tracer"
    run trace-count "$LAB_DIR/trace" "$LAB_DIR/marks"
    lab-report log "$LAB_SCENARIO/$1.counts" < "$LAB_DIR/run.out"
    rm "$LAB_DIR/trace"
}

bench_environment() {
    echo "xen=$(xl info xen_version)"
    echo "dom0_kernel=$(uname -r)"
    echo "cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
}

step 'start the guest' 200
bench_environment > "$LAB_DIR/env"
lab-report log "$LAB_SCENARIO/env" < "$LAB_DIR/env"
bench_guest
bench_measure stock
bench_count stock
guest_destroy g1

step 'change the module' 120
use_module ours

step 'start the guest again' 200
bench_guest
bench_measure ours
bench_count ours
guest_destroy g1

step 'change the module back' 120
use_module stock
