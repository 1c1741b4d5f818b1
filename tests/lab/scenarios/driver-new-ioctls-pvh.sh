# Replace, clear, query and counters do what their header says, in a PVH Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=ours needs=module,privcmd-window timeout=300
step 'a guest to map' 120
paused_guest
step 'the new ioctls' 240
run privcmd-window "$(guest_id)" '[!l]*'    # the large ones: driver-long
for name in map replace munmap; do
    figure "${name}_hypercalls_1024" "$(sed -n "s/.*figure ${name}_hypercalls_1024 //p" "$LAB_DIR/run.out")"
done
