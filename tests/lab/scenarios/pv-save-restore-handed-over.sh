# A PV guest is saved and restored with our helper installed and told to leave it to the stock functions.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=300
step 'start the guest' 90
guest_start type=pv memory=128 mib=32 dirty=16 rate=8
guest_check

step 'save' 120
save g1 /var/lib/xen/g1.save engine=timed
equal 'the engine that saved' "$(stat_of end save engine)" stock

step 'restore' 120
restore /var/lib/xen/g1.save engine=timed
equal 'the engine that restored' "$(stat_of end restore engine)" stock

step 'check the guest' 90
guest_ticks_advance
guest_check
