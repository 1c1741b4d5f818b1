# Pages of zeroes go without contents, to a host whose free memory is full of others' old contents: none shows.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,dirtyfree timeout=500 xen_args="bootscrub=0"
step 'make free memory dirty' 120
empty_guest hog
run dirtyfree "$(guest_id hog)" 112

step 'start the guest' 120
guest_start type=pvh memory=192 mib=80 dirty=8 rate=2 fill=zero
guest_check

# A second helping, so that what comes next is dirty whatever the first guest got.
step 'make free memory dirty again' 120
empty_guest hog2
run dirtyfree "$(guest_id hog2)" 112

step 'migrate' 170
export XENFERRY_PEER='version=0.1.0 features=0x1'
migrate g1 from=ours to=ours
elided=$(stat_of end save elided) cleared=$(stat_of end restore cleared)
figure elided "$elided" pages
figure cleared "$cleared" pages
[ "$elided" -gt 15000 ] || fail "only $elided pages went without contents"
[ "$cleared" -gt 1000 ] || fail "only $cleared pages were dirty: free memory was not what this is about"

step 'check the guest' 120
guest_ticks_advance
guest_check
run xl destroy hog
run xl destroy hog2
