# A PVH guest that dirties memory, tracked by content: ours to ours, to ours with all of memory sent again in the
# pause, and ours to stock.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=500
export XENFERRY_TRACKER=content XENFERRY_CONTENT_THREADS=3
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
guest_check

by_content() { # by_content to=ENGINE
    guest_gap_reset
    step "migrate $*" 170
    migrate g1 from=ours "$@"
    step "check the guest after migrating $*" 90
    guest_ticks_advance
    guest_pause
    guest_check
}
by_content to=ours
XENFERRY_VERIFY_CONTENT=yes by_content to=ours
by_content to=stock
