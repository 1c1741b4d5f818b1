# A guest that outruns a link of 100 Mbit/s: given up, throttled, paused, each as asked; its CPU time always comes back.
# The helper is killed while the guest is tracked by content, else it is by log-dirty.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,killat timeout=900
export XENFERRY_MAX_BANDWIDTH=100 XENFERRY_ELIDE_ZERO=always    # what is zero would only take time

step 'start the guest' 90
guest_start type=pvh memory=128 mib=24 dirty=24 rate=max fill=zero

step 'give up' 170
export XENFERRY_WHEN_STUCK=abort
migrate_must_fail 'as it dirties memory faster than it can be sent' g1 from=ours to=ours
guest_ticks_advance
all_its_cpu

step 'throttle' 400
export XENFERRY_WHEN_STUCK=throttle
MIGRATE_SECONDS=1100
migrate g1 from=ours to=ours
grep -q '"cap":' "$STATS" || fail 'it was never throttled'
figure least_cap "$(sed -n 's/.*"cap":\([0-9]*\).*/\1/p' "$STATS" | sort -n | head -1)" '%'
figure throttle_rounds "$(stat_of end save rounds)"
all_its_cpu
guest_ticks_advance
guest_check

step 'throttle, and kill the helper' 400
: > "$STATS"
export XENFERRY_TRACKER=content
killat "$STATS" '"cap":' -- 9 %save &
migrate_must_fail '' g1 from=ours to=ours
unset XENFERRY_TRACKER
all_its_cpu
guest_ticks_advance

step 'pause' 170
export XENFERRY_WHEN_STUCK=pause
migrate g1 from=ours to=ours
equal 'why it was suspended' "$(stat_of end save stopped_for)" stuck
all_its_cpu

step 'check the guest' 120
guest_ticks_advance
guest_check
