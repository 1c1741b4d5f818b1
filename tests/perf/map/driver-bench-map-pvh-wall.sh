# What mapping, unmapping and replacing cost in a PVH Dom0, in time.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh mode=wall cpus=2 dom0_vcpus=2 needs=module,command,trace-count,bench-floor,still-guest,xenferry-floor.ko timeout=7200

. /lab/scenarios/common/bench-map.sh
bench_frames=1,16,64,256,1024,4096
bench_repeat=50
bench_seconds=5
bench_rounds=2
bench_events=
bench_all
