# `xenferry dirty-rate` knows a workload's working set, and what its migration will be like; stopped or killed, or while
# somebody else has log-dirty on, it leaves the guest as it was.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=ours needs=engine,command timeout=400
json_of() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$LAB_DIR/rate.json" | tail -1; }
between() { # between WHAT VALUE LEAST MOST
    figure "$(echo "$1" | tr ' ' '_')" "$2"
    [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "the $1 is $2, expected $3 to $4"
}
log_dirty_is() { [ "$(lab-probe logdirty "$before")" = "$1" ]; }
guarded() { ps -o comm | grep -q '^xenferry-guard'; }

step 'start the guest' 90
guest_start type=pvh memory=128 mib=16 dirty=12 rate=max fill=zero
before=$(guest_id)

# 12 MiB are 3072 pages, each written again within a moment. The kernel, the ticks and the workload's own tables make
# some more: at most 1024.
step 'watch it' 60
run within 60 xenferry dirty-rate --seconds 3 --bandwidth 100 --json g1
cp "$LAB_DIR/run.out" "$LAB_DIR/rate.json"
between 'working set' "$(json_of working_set_pages)" 3072 4096
figure dirty_rate "$(json_of dirty_pages_s)" pages/s
log_dirty_off

for signal in TERM KILL; do
    step "end it with SIG$signal" 60
    xenferry dirty-rate -s 60 g1 > "$LAB_DIR/rate.out" 2>&1 &
    watcher=$!
    wait_until 30 'it to have begun' guarded
    sleep 1
    log_dirty_is on || fail 'it does not watch'
    kill -$signal $watcher
    wait $watcher
    equal 'the exit status' $? $([ $signal = KILL ] && echo 137 || echo 130)
    cat "$LAB_DIR/rate.out"
    wait_until 15 'its guard to be gone' eval '! guarded'
    log_dirty_off
done

# Who calls first has it: a migration waits for 10 s and says so then.
step 'migrate while it is watched' 90
xenferry dirty-rate -s 120 g1 > "$LAB_DIR/rate.out" 2>&1 &
watcher=$!
wait_until 30 'it to have begun' guarded
expect_fail 'another migration or "xenferry dirty-rate"' try_migrate g1 from=ours to=ours
equal 'the domain id of g1' "$(guest_id)" "$before"
log_dirty_is on || fail 'the migration switched log-dirty off under the watch'
kill -TERM $watcher
wait $watcher
wait_until 15 'its guard to be gone' eval '! guarded'
wait_until 15 'nothing incoming is left' nothing_incoming
log_dirty_off

step 'refuse what is being migrated' 30
run lab-probe logdirty-enable "$before"
expect_fail 'switched on by somebody else' xenferry dirty-rate -s 1 g1
equal 'the exit status' "$LAB_STATUS" 5
log_dirty_is on || fail 'it switched log-dirty off under somebody'
expect_fail 'Found no domain "g2"' xenferry dirty-rate -s 1 g2
equal 'the exit status' "$LAB_STATUS" 4

# At 100 Mbit/s it can't be caught up with: the same pages are dirty again after each round.
step 'migrate, and compare' 170
export XENFERRY_MAX_BANDWIDTH=100 XENFERRY_ELIDE_ZERO=always
migrate g1 from=ours to=ours
equal 'why it was suspended' "$(stat_of end save stopped_for)" "$(json_of stopped_for)"
rounds=$(json_of rounds) last=$(json_of last_pages) pages=$(json_of pages)
between 'rounds' "$(stat_of end save rounds)" $((rounds - 1)) $((rounds + 1))
between 'pages in the pause' "$(stat_of round save pages)" $((last * 3 / 4)) $((last * 4 / 3))
# The forecast knows nothing of pages of zeroes.
between 'pages in all' $(($(stat_of end save pages) + $(stat_of end save elided))) $((pages * 2 / 3)) $((pages * 4 / 3))
figure predicted_total_s "$(json_of total_s)" s
figure outcome_memory_s "$(stat_of end save memory_s)" s
figure predicted_pause_ms "$(json_of pause_ms)" ms

step 'check the guest' 90
guest_ticks_advance
guest_check
