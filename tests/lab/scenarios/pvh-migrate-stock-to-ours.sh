# A PVH guest that dirties memory migrates three times in a row, sent by the stock one, received by our engine.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
guest_check

for round in 1 2 3; do
    guest_gap_reset
    step "migration $round" 170
    migrate g1 from=stock to=ours
    step "check the guest after migration $round" 90
    guest_ticks_advance
    guest_pause
    guest_check
done
