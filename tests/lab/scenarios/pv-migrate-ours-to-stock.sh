# A PV guest of 512 MiB migrates live from our engine to a stock receiver.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=500
step 'start the guest' 90
guest_start type=pv memory=512 mib=64 dirty=16 rate=8 churn=yes
guest_churn_advances
guest_check

guest_gap_reset
step 'migrate' 300
migrate g1 from=ours to=stock
equal 'the tracker' "$(stat_of end save tracker)" content

step 'check the guest' 90
guest_ticks_advance
guest_churn_advances
guest_pause
guest_check
