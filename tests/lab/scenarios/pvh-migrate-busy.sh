# A guest that rewrites its memory without pause still arrives whole, after few rounds.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=40 rate=max

step 'migrate' 240
MIGRATE_SECONDS=230
migrate g1 from=ours to=ours
rounds=$(stat_of end save rounds)
figure rounds "$rounds"
[ "$rounds" -le 50 ] || fail "it took $rounds rounds"

step 'check the guest' 120
guest_ticks_advance
guest_check
