# A PV guest that is saved and left running goes on; so does one whose migration fails for want of memory at the
# destination, and the next try succeeds.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=500
step 'start the guest' 90
guest_start type=pv memory=128 mib=40 dirty=16 rate=8 churn=yes
guest_churn_advances
before=$(guest_id g1)

step 'save, and let it run on' 120
save g1 /var/lib/xen/g1.save engine=ours -c
equal 'the engine that saved' "$(stat_of end save engine)" ours
equal 'the domain id after xl save -c' "$(guest_id g1)" "$before"
rm /var/lib/xen/g1.save
guest_ticks_advance
guest_churn_advances
guest_check

migrate_without_room guest_churn_advances
guest_churn_advances
