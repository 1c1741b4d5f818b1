# Ctrl-C during `xenferry migrate`, as it begins, in a round and while the guest suspends: the guest runs on at the source,
# nothing of it is at the other side, and it can go again.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,command,killat timeout=400
printf '#!/bin/sh\nshift\nexec "$@"\n' > "$LAB_DIR/ssh"
chmod +x "$LAB_DIR/ssh"

# ferry [OPTIONS]: in the background, with its words in ferry.out; leaves $ferry.
ferry() {
    : > "$LAB_DIR/ferry.out"
    xenferry migrate "$@" --ssh "$LAB_DIR/ssh" g1 localhost >> "$LAB_DIR/ferry.out" 2>&1 &
    ferry=$!
}
# stayed: it was stopped as asked, and nothing has changed.
stayed() {
    wait $ferry
    LAB_STATUS=$?
    cat "$LAB_DIR/ferry.out"
    equal 'the exit status' $LAB_STATUS 130
    grep -q 'was stopped as asked: the domain runs on here' "$LAB_DIR/ferry.out" || fail 'it does not say where the guest is'
    equal 'the domain' "$(guest_id g1)" "$before"
    wait_until 30 'the other side to be gone' nothing_incoming
    log_dirty_off g1
    all_its_cpu g1
    guest_ticks_advance
    guest_check
}
incoming() { ! nothing_incoming; }

step 'start the guest' 90
guest_start type=pvh memory=128 mib=16 dirty=12 rate=max
before=$(guest_id g1)

step 'interrupt it as it begins' 120
ferry -v
wait_until 60 'the other side to be there' incoming
kill -TERM $ferry
stayed

# Without a terminal it tells of each round when that has ended; after the last one (of four) the guest is suspended.
for round in 0 1 3; do
    step "interrupt it after round $round" 120
    ferry --max-bandwidth 200 --max-pause 1 --max-rounds 4
    killat "$LAB_DIR/ferry.out" "round $round: " -- 15 $ferry
    stayed
done

step 'migrate again' 180
run within 170 xenferry migrate --ssh "$LAB_DIR/ssh" g1 localhost
[ "$(guest_id g1)" != "$before" ] || fail "guest g1 is still domain $before after the migration"

step 'check the guest again' 90
guest_ticks_advance
guest_check
