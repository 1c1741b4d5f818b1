# The bare hypercalls that the benchmark holds the driver against, in a PVH Dom0: what they cost, and the driver.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=ours mode=deterministic needs=module,floor-check,xenferry-floor.ko timeout=900
step 'start the guest' 300
paused_guest
run insmod "$(command -v xenferry-floor.ko)"

step 'what is refused' 60
run floor-check refuse "$(guest_id)"

step 'bare hypercalls and the driver' 600
run floor-check 1 16 512 1024 4096 -- "$(guest_id)"
cat "$LAB_DIR/run.out"
run rmmod xenferry_floor
