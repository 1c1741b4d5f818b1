# Either helper is killed after a tenth and shortly before the end: each time the source runs on, and the last try works.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=900
step 'start the guest' 90
guest_start type=pvh memory=128 mib=48 dirty=16 rate=8

for side in save restore; do
    for mib in 13 127; do
        step "migrate, and kill the $side helper after $mib MiB" 150
        kill_helper $side $mib &
        migrate_must_fail '' g1 from=ours to=ours
        guest_ticks_advance
        guest_check
    done
done

step 'the last try' 170
migrate g1 from=ours to=ours
guest_ticks_advance
guest_check
