# An unknown optional record is ignored.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,streamedit timeout=300
step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
save g1 /var/lib/xen/g1.save engine=ours
run sh -c 'streamedit optional < /var/lib/xen/g1.save > /var/lib/xen/more.save'
rm /var/lib/xen/g1.save

step 'restore' 120
restore /var/lib/xen/more.save engine=ours

step 'check the guest' 90
guest_ticks_advance
guest_check
