# At many points of a migration the sender's helper, the receiver's, or the link between them is killed. Each time exactly
# one guest runs, its pages are right, it has all its CPU time, log-dirty is off and nothing incoming is left (but what xl
# itself leaves, paused, when it can't say that all has arrived); the last try succeeds.
# SPDX-License-Identifier: LGPL-2.1-or-later
# Beside another boot the guest may be too slow to be throttled.
#: module=ours needs=engine,killat timeout=900 alone=yes
# Four rounds before the pause, whatever the guest does; in the last one it is throttled.
export XENFERRY_MAX_BANDWIDTH=200 XENFERRY_ELIDE_ZERO=always XENFERRY_MAX_PAUSE=1 XENFERRY_MAX_ROUNDS=4
export XENFERRY_WHEN_STUCK=throttle

# The way to the receiver: two processes that can be killed, one for each direction. As with ssh, the sender sees the end
# as soon as the receiver has ended, whatever it sent itself.
{
    echo '#!/bin/sh'
    echo 'shift'
    echo '. /lab/lib/migrate.sh'
    echo "STATS=$STATS"
    echo "cd $LAB_DIR && rm -f there back && mkfifo there back && exec 3<&0"
    echo "sh -c 'echo \$\$ >> link; exec cat' <&3 > there &"
    echo 'with_engine ours "$@" 3<&- < there > back &'
    echo 'echo $$ >> link'
    echo 'exec cat < back 3<&-'
} > "$LAB_DIR/linked-shell"
chmod +x "$LAB_DIR/linked-shell"

running_guests() { xl list | awk '$1 ~ /^g1/ && $5 !~ /[sdp]/' | wc -l; }

# incoming_goes: by itself. xl migrate-receive ends without destroying it where its word that all has arrived finds nobody;
# then it must never have run.
xl_left_it() { grep -q 'failed to write ready message' "$LAB_DIR/migrate.out"; }
gone_or_left() { nothing_incoming || xl_left_it; }
incoming_goes() {
    wait_until 20 'nothing incoming is left' gone_or_left
    nothing_incoming && return
    xl list g1--incoming | tail -1 | grep -q -- '--p---' || fail "the incoming guest is not paused: $(xl list g1--incoming | tail -1)"
    run xl destroy g1--incoming
    left=$((left + 1))
}

# exactly_one_runs: and it is well. What was given away and lies still is the old one, to be taken away by hand.
exactly_one_runs() {
    incoming_goes
    equal 'how many guests run' "$(running_guests)" 1
    [ -z "$(guest_id g1--migratedaway)" ] || run xl destroy g1--migratedaway
    all_its_cpu g1
    log_dirty_off g1
    guest_ticks_advance
    guest_check
}

# point VICTIM 'WHERE' [-n N] TEXT...: the victim is killed when the statistics have a line with these texts.
point() {
    local victim=$1 where=$2 times=1 target before watcher; shift 2
    [ "$1" != -n ] || { times=$2; shift 2; }
    step "$victim, $where" 90
    target=%$victim
    [ "$victim" != link ] || target=@$LAB_DIR/link
    : > "$STATS"
    : > "$LAB_DIR/link"
    before=$(guest_id)
    killat -n "$times" "$STATS" "$@" -- 9 "$target" > "$LAB_DIR/killat.out" 2>&1 &
    watcher=$!
    with_engine ours within 60 xl migrate -s "$LAB_DIR/linked-shell" g1 localhost > "$LAB_DIR/migrate.out" 2>&1
    LAB_STATUS=$?
    cat "$LAB_DIR/killat.out" "$LAB_DIR/migrate.out"
    ! running $watcher || fail 'the migration never came to this point'
    [ $LAB_STATUS != 137 ] || fail 'xl migrate did not end'
    ! grep -q '"cap":' "$STATS" || throttled=$((throttled + 1))
    exactly_one_runs
    if [ "$(guest_id)" = "$before" ]; then stayed=$((stayed + 1)); else moved=$((moved + 1)); fi
}
# When the helper dies while libxl waits for the guest to suspend, libxl 4.17 forgets the watch it has in the xenstore: the
# migration fails as it should and the guest runs on, but at its end xl aborts on an assertion of its own.
xl_stumbled() { [ $LAB_STATUS = 134 ] && grep -q 'libxl_ctx_free: Assertion .*watch_slot' "$LAB_DIR/migrate.out"; }

# must_stay VICTIM ...: a point at which the guest stays at the source.
must_stay() {
    local id
    id=$(guest_id)
    point "$@"
    xl_stumbled || equal 'the exit status of xl migrate' $LAB_STATUS 1
    equal 'the domain id of g1' "$(guest_id)" "$id"
}

stayed=0 moved=0 throttled=0 left=0
step 'start the guest' 90
guest_start type=pvh memory=128 mib=16 dirty=12 rate=max

for victim in save restore link; do
    must_stay $victim 'before the first page' '"event":"start"' "\"side\":\"${victim%link}"
    if [ $victim = link ] || [ "$LAB_LONG" = 1 ]; then
        must_stay $victim 'in the first round' -n 3 '"event":"progress"' '"round":0'
        must_stay $victim 'in the second round' '"event":"round"' '"round":0'
        must_stay $victim 'in the third round' '"event":"round"' '"round":1'
    fi
    must_stay $victim 'in the fourth round' '"event":"round"' '"round":2'
    must_stay $victim 'while the guest suspends' '"event":"round"' '"round":3'
    must_stay $victim 'in the last copy' '"event":"suspended"'
done
# From here on the guest may be on its way to the other side.
point restore 'after the last record' '"event":"end"' '"side":"save"'
point link 'after the last record' '"event":"end"' '"side":"save"'
point link 'when all has been applied' '"event":"end"' '"side":"restore"'

figure stayed $stayed
figure moved $moved
figure throttled $throttled
figure left_by_xl $left
[ $throttled -gt 0 ] || fail 'the guest was never throttled'
migrate_once_more
