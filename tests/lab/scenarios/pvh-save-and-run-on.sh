# xl save -c leaves the guest running; xl restore -p brings the copy up paused; both with our engine.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
before=$(guest_id g1)

step 'save, and let it run on' 120
save g1 /var/lib/xen/g1.save engine=ours -c
equal 'the domain id after xl save -c' "$(guest_id g1)" "$before"
log_dirty_off g1
guest_ticks_advance
guest_check
guest_destroy

step 'restore paused' 120
restore /var/lib/xen/g1.save engine=ours -p
xl list g1 | tail -1 | grep -q -- '--p---' || fail "the restored guest is not paused: $(xl list g1 | tail -1)"
log_dirty_off g1

step 'go on' 90
run xl unpause g1
guest_ticks_advance
guest_check
