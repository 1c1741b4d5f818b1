# Either helper is killed after a tenth and shortly before the end: each time the source runs on, and the last try works.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=900
step 'start the guest' 90
guest_start type=pvh memory=128 mib=48 dirty=16 rate=8
for side in save restore; do
    for mib in 13 127; do
        survive_kill $side $mib
    done
done
migrate_once_more
