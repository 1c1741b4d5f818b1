# Frames stay readable where mremap() puts them: a few, whole page-table pages, several owners', and in a window.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=ours needs=module,privcmd-conform,privcmd-window timeout=240
step 'a guest to map' 90
paused_guest
step 'move areas'
run privcmd-conform "$(guest_id)" 'move-*'
for line in 'move-small: the new place: ok\*8' 'move-small: the old place: ok\*8' 'move-large: the new place: ok\*1536' \
        "move-mixed: the guest's: ok\\*1" 'move-mixed: the same content: 1' 'move-empty: pages: ok\*16'; do
    grep -qx "$line" "$LAB_DIR/run.out" || fail "privcmd-conform did not say '$line'"
done
step 'move a window'
run privcmd-window "$(guest_id)" moved-window
