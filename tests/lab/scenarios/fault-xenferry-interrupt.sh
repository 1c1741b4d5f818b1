# Ctrl-C during `xenferry migrate`: the guest runs on at the source, nothing of it is at the other side, and it can go again.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,command timeout=300
printf '#!/bin/sh\nshift\nexec "$@"\n' > "$LAB_DIR/ssh"
chmod +x "$LAB_DIR/ssh"

step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
before=$(guest_id g1)

step 'interrupt it' 120
(
    trap - INT
    exec xenferry migrate -v --ssh "$LAB_DIR/ssh" g1 localhost
) > "$LAB_DIR/ferry.out" 2>&1 &
ferry=$!
wait_until 60 'pages of the guest to arrive' sh -c "xl list | grep -q 'g1--incoming'"
kill -TERM $ferry
wait $ferry
equal 'exit status' $? 130
cat "$LAB_DIR/ferry.out"
grep -q 'was stopped as asked: the domain runs on here' "$LAB_DIR/ferry.out" || fail 'it does not say where the guest is'
equal 'domain' "$(guest_id g1)" "$before"
wait_until 30 'the other side to be gone' sh -c "! xl list | grep -q incoming"
log_dirty_off g1

step 'check the guest' 90
guest_ticks_advance
guest_check

step 'migrate again' 180
run within 170 xenferry migrate --ssh "$LAB_DIR/ssh" g1 localhost
[ "$(guest_id g1)" != "$before" ] || fail "guest g1 is still domain $before after the migration"

step 'check the guest again' 90
guest_ticks_advance
guest_check
