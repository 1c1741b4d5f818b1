# The receiver's helper is killed half-way: the source runs on, nothing is left of the copy, a second try works.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=16 rate=8
guest_check
survive_kill restore 20
migrate_once_more
