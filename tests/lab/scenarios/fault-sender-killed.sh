# The sender's helper is killed half-way: the source runs on, nothing is left of the copy, a second try works.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=16 rate=8
guest_check

step 'migrate, and kill the sender' 120
kill_helper save 20 &
migrate_must_fail '' g1 from=ours to=ours

step 'check the guest at the source' 90
guest_ticks_advance
guest_check

step 'a second try' 170
migrate g1 from=ours to=ours
step 'check the guest at the destination' 90
guest_ticks_advance
guest_check
