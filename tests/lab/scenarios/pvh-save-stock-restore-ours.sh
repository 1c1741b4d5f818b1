# What the stock engine saves, our inspect accepts and our engine restores.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,command timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
guest_check

step 'save with stock' 120
save g1 /var/lib/xen/g1.save engine=stock

step 'inspect the file' 120
run xenferry inspect /var/lib/xen/g1.save

step 'restore with ours' 120
restore /var/lib/xen/g1.save engine=ours

step 'check the guest' 90
guest_ticks_advance
guest_check
