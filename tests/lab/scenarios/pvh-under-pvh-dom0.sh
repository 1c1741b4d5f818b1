# In a PVH Dom0 with our module a PVH guest starts, checks itself and ends.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=ours timeout=400
step 'start the guest' 200
guest_start type=pvh memory=128 mib=16 dirty=4 rate=4

step 'check the guest' 100
guest_ticks_advance
guest_check
