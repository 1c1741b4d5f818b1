# The destination has half the memory it needs: the message says what is needed and what is free, the source resumes.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=16 rate=8
guest_check

migrate_without_room
