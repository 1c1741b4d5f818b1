# The destination has half the memory it needs: the message says what is needed and what is free, the source resumes.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=16 rate=8
guest_check

step 'leave 64 MiB' 60
leave_free 64

step 'migrate' 120
migrate_must_fail 'may need up to' g1 from=ours to=ours
step 'check the guest at the source' 90
guest_ticks_advance
guest_check

run xl destroy hog
migrate_once_more
