# The bare hypercalls that the benchmark holds the driver against, in a PV Dom0: what they cost, and the driver.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=ours mode=deterministic needs=module,floor-check,xenferry-floor.ko timeout=900
floor_figures

step 'one hypercall a frame' 60
echo 1 > /sys/module/xen_privcmd/parameters/per_frame
run floor-check 1024 -- "$(guest_id)" 3
cat "$LAB_DIR/run.out"
grep -q ' map-calls=1024+0+1024 unmap-calls=0+1024+1025 ' "$LAB_DIR/run.out" || fail 'not each frame took a hypercall and a flush'
echo 0 > /sys/module/xen_privcmd/parameters/per_frame
run rmmod xenferry_floor
