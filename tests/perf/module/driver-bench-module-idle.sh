# Stock xl moves a 512 MiB guest that is idle and full of random data, with the stock module and with ours.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv mode=wall needs=module,command,bench-counters timeout=14400

. /lab/scenarios/common/bench-module.sh
bench_dirty=0
bench_rate=0
bench_pairs
