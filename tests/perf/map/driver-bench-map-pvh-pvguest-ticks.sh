# What mapping, unmapping and replacing a PV guest's frames cost in a PVH Dom0, in instructions.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh mode=deterministic needs=module,command,trace-count,bench-floor,xenferry-floor.ko timeout=7200
# Xen's trace buffers (pages a CPU) are there from the start, so that free memory is the same before and after.
#: xen_args="tbuf_size=2000"

. /lab/scenarios/common/bench-map.sh
bench_guest_type=pv
bench_frames=64,1024
bench_repeat=5
bench_seconds=1
bench_rounds=2
bench_events=0x00282000     # what a PVH Dom0 exits for, and parts of multicalls
bench_all
