# verify-stream-v2 -f xl -v -i /var/lib/xen/g1.save
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,verify timeout=300
step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
save g1 /var/lib/xen/g1.save engine=ours

step 'verify' 180
run env PYTHONPATH=/usr/lib/xen-4.17/lib/python /usr/lib/xen-4.17/bin/verify-stream-v2 -f xl -v -i /var/lib/xen/g1.save
