# Memory is taken from a guest and given back while it migrates: it arrives whole.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=500
step 'start the guest' 90
guest_start type=pvh memory=192 mib=40 dirty=16 rate=8
guest_check
had=$(guest_memory)

step 'migrate, and change its memory' 300
export XENFERRY_MAX_BANDWIDTH=200
MIGRATE_SECONDS=900
: > "$STATS"
: > "$LAB_DIR/amounts"
(
    # Not before: the other side's domain is made for what the guest is to have when xl migrate begins.
    until sending; do usleep 100000; done
    for target in 160 192 150; do
        xl mem-set g1 $target && sleep 1.5 && guest_memory >> "$LAB_DIR/amounts"
    done
) > "$LAB_DIR/balloon.out" 2>&1 &
balloon=$!
migrate g1 from=ours to=ours
wait $balloon
cat "$LAB_DIR/balloon.out" "$LAB_DIR/amounts"
grep -qvx "$had" "$LAB_DIR/amounts" || fail 'its memory never changed'

step 'check the guest' 120
run xl mem-set g1 192
wait_until 60 'the guest has its memory again' guest_has_memory "$had"
guest_ticks_advance
guest_check
