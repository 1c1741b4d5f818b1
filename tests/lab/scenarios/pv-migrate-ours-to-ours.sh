# A PV guest with two vCPUs that dirties memory and makes and frees page tables without pause migrates live, five times
# in a row, under a Xen that has no log-dirty for it. It runs on while its memory is copied.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=1300
step 'start the guest' 90
guest_start type=pv memory=128 vcpus=2 mib=40 dirty=16 rate=8 churn=yes
guest_churn_advances
guest_check
memory_before=$(guest_memory)

for i in 1 2 3 4 5; do
    guest_gap_reset
    step "migrate, $i" 200
    migrate g1 from=ours to=ours
    equal 'the tracker' "$(stat_of end save tracker)" content
    equal 'the engine that restored' "$(stat_of end restore engine)" ours
    step "check the guest, $i" 90
    guest_ticks_advance
    guest_pause
    guest_check
done

step 'it runs on while its memory is copied' 200
: > "$STATS"
export XENFERRY_MAX_BANDWIDTH=200
migrate g1 from=ours to=ours > "$LAB_DIR/migrate.out" 2>&1 &
migration=$!
wait_until 60 'the first pages go' sending
guest_ticks_advance
! grep -q '"event":"suspended"' "$STATS" || fail 'the guest was suspended before its ticks were seen to go on'
wait $migration || fail "the migration failed: $(tail -3 "$LAB_DIR/migrate.out")"
guest_ticks_advance
guest_check
guest_churn_advances
figure churns "$GUEST_CHURNS"
equal 'the memory of the guest' "$(guest_memory)" "$memory_before"
guest_destroy g1

unset XENFERRY_MAX_BANDWIDTH
step 'start a guest of 512 MiB and one vCPU' 90
guest_start type=pv memory=512 mib=64 dirty=16 rate=8 churn=yes
step 'migrate it' 300
migrate g1 from=ours to=ours
step 'check it' 90
guest_ticks_advance
guest_churn_advances
guest_check
