# With memory in fragments, one map of 64 Ki frames in a PVH Dom0 succeeds or says ENOMEM; nothing is logged.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=stock needs=module,privcmd-fragment timeout=400
step 'a guest to map' 120
use_module ours
paused_guest
step 'map 64 Ki frames in fragments' 300
# The pages are locked, and stay where they are.
echo 0 > /proc/sys/vm/compact_unevictable_allowed
run privcmd-fragment "$(guest_id)" 65536
figure large_blocks_free "$(sed -n 's/^figure large_blocks_free //p' "$LAB_DIR/run.out")"
