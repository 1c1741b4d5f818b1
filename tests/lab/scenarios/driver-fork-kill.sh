# Mappers that fork, exit, exec and are killed leave nothing behind: the guest goes for good.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=ours needs=module,privcmd-conform,privcmd-hold timeout=300
holder_mapped() { grep -qx holding "$LAB_DIR/hold.out"; }

step 'processes that come and go' 120
paused_guest
for pattern in 'fork-*' 'exit-*' 'kill-*' 'exec-*' 'close-*' 'threads-*'; do
    run privcmd-conform "$(guest_id)" "$pattern"
done
grep -qx 'threads-map: thread 3: 0 bad' "$LAB_DIR/run.out" || fail 'a thread saw wrong pages'

step 'a guest destroyed while it is mapped'
privcmd-hold map "$(guest_id)" 5000 > "$LAB_DIR/hold.out" 2>&1 &
holder=$!
wait_until 20 'the holder has mapped the guest' holder_mapped
guest_destroy
equal 'the guest, as xl lists it while it is mapped,' "$(xl list | awk 'NR > 2 {print $1}')" '(null)'

step 'the mapper killed'
kill -KILL $holder
wait_until 20 'the guest is gone from xl list' no_guests
