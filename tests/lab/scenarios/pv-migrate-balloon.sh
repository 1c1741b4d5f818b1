# A PV guest loses memory and gets it back, again and again, while it migrates live: it arrives whole, or the migration
# fails cleanly and it runs on at the source; and it has the memory it is to have.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=900
step 'start the guest' 90
guest_start type=pv memory=176 vcpus=2 mib=40 dirty=16 rate=8 churn=yes
guest_churn_advances
guest_check
had=$(guest_memory)

moved=0 stayed=0
for i in 1 2 3; do
    : > "$STATS"
    : > "$LAB_DIR/resize"
    : > "$LAB_DIR/amounts"
    (
        # Not before: the other side's domain is made for what the guest is to have when xl migrate begins.
        until sending; do usleep 100000; done
        while [ -e "$LAB_DIR/resize" ]; do
            for target in 146 166 134 176; do
                xl mem-set g1 $target && usleep 300000 && guest_memory >> "$LAB_DIR/amounts"
            done
        done
    ) > "$LAB_DIR/balloon.out" 2>&1 &
    balloon=$!
    id=$(guest_id)
    step "migrate, and change its memory, $i" 300
    status=0
    (try_migrate g1 from=ours to=ours) || status=$?
    if [ $status = 0 ]; then moved=$((moved + 1)); else stayed=$((stayed + 1)); fi
    rm "$LAB_DIR/resize"
    wait $balloon
    [ $status = 0 ] || equal 'the exit status of xl migrate' $status 1
    grep -qvx "$had" "$LAB_DIR/amounts" || fail "its memory never changed: $(cat "$LAB_DIR/amounts" "$LAB_DIR/balloon.out")"

    step "check the guest, $i" 120
    equal 'the domains left' "$(xl list | grep -c '^g1')" 1
    if [ $status = 0 ]; then
        [ "$(guest_id)" != "$id" ] || fail 'xl migrate says it moved, and it is where it was'
    else
        equal 'the domain id of g1' "$(guest_id)" "$id"
    fi
    run xl mem-set g1 176
    wait_until 60 'the guest has its memory again' guest_has_memory "$had"
    guest_ticks_advance
    guest_check
done
figure moved $moved
figure stayed $stayed
[ $moved -gt 0 ] || fail 'it never moved'
