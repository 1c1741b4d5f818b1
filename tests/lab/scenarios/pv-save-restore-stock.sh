# A PV guest that makes and frees page tables all the time is saved and restored with stock tools only.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv timeout=240
step 'start the guest' 90
guest_start type=pv memory=128 mib=32 dirty=16 rate=8 churn=yes
guest_churn_advances
guest_check

step 'save' 120
save g1 /var/lib/xen/g1.save engine=stock

step 'restore' 120
restore /var/lib/xen/g1.save engine=stock

step 'check the guest' 90
guest_ticks_advance
guest_churn_advances
figure churns "$GUEST_CHURNS"
guest_check
