# The bare hypercalls that the benchmark holds the driver against, in a PVH Dom0: what they cost, and the driver.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=ours mode=deterministic needs=module,floor-check,xenferry-floor.ko timeout=900
floor_figures
run rmmod xenferry_floor
