# A guest with two vCPUs migrates, and both go on afterwards.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine cpus=3 timeout=400
step 'start the guest' 120
guest_start type=pvh memory=160 vcpus=2 mib=40 dirty=16 rate=4
guest_ticks_advance

step 'migrate' 240
MIGRATE_SECONDS=230
migrate g1 from=ours to=ours

step 'check the guest' 120
guest_ticks_advance
guest_check
