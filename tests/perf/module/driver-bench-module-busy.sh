# Stock xl moves a 512 MiB guest that rewrites 80 % of its memory without pause, with the stock module and with ours.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv mode=wall needs=module,command,bench-counters timeout=14400

. /lab/scenarios/common/bench-module.sh
bench_dirty=410
bench_rate=max
bench_pairs
