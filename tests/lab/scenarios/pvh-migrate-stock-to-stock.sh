# A PVH guest that dirties memory and checks itself migrates with stock tools only: proves the lab.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv timeout=240
step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
guest_check
guest_gap_reset

step 'migrate' 180
migrate g1 from=stock to=stock

step 'check the guest' 90
guest_ticks_advance
guest_pause
guest_check
