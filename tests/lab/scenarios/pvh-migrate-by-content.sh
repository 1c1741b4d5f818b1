# A PVH guest that dirties memory, tracked by content: ours to ours, and ours to stock. (pvh-migrate-verify-clean has all
# of memory compared at the end.)
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=700
export XENFERRY_TRACKER=content XENFERRY_CONTENT_THREADS=3
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
guest_check

for receiver in ours stock; do
    guest_gap_reset
    step "migrate to $receiver" 200
    migrate g1 from=ours "to=$receiver"
    equal 'the tracker' "$(stat_of end save tracker)" content
    step "check the guest after migrating to $receiver" 90
    guest_ticks_advance
    guest_pause
    guest_check
done
