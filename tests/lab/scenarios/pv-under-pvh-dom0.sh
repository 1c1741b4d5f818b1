# In a PVH Dom0 with our module a PV guest is saved, restored and migrated live with our engine.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=ours needs=engine timeout=700
step 'start the guest' 200
guest_start type=pv memory=128 mib=16 dirty=4 rate=4
guest_check

step 'save' 200
save g1 /var/lib/xen/g1.save engine=ours
step 'restore' 200
restore /var/lib/xen/g1.save engine=ours
equal 'the engine that restored' "$(stat_of end restore engine)" ours
rm /var/lib/xen/g1.save
guest_ticks_advance
guest_check

step 'migrate' 300
migrate g1 from=ours to=ours
equal 'the tracker' "$(stat_of end save tracker)" content
step 'check the guest' 100
guest_ticks_advance
guest_check
