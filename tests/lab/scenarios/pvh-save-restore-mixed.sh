# What our engine saves, verify-stream-v2 accepts, our inspect accepts and the stock engine restores; and the other way
# round, stock's file is accepted by our inspect and restored by our engine.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,command,verify timeout=500
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8

step 'save with ours' 120
save g1 /var/lib/xen/g1.save engine=ours

step 'let others check the file' 120
run verify-stream-v2 -f xl -i /var/lib/xen/g1.save
run xenferry inspect /var/lib/xen/g1.save

step 'restore with stock' 120
restore /var/lib/xen/g1.save engine=stock
guest_ticks_advance
guest_check

step 'save with stock, and inspect the file' 120
save g1 /var/lib/xen/g1.save engine=stock
run xenferry inspect /var/lib/xen/g1.save

step 'restore with ours' 120
restore /var/lib/xen/g1.save engine=ours

step 'check the guest' 90
guest_ticks_advance
guest_check
