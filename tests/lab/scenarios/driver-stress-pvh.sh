# Processes and threads map, replace, clear, move, fork and are killed while guests shrink, grow, come and go.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=ours cpus=3 dom0_vcpus=2 needs=privcmd-stress timeout=380
stress "$(short_or_long 12 180)"
