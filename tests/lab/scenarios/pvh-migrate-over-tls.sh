# A PVH guest moves through xenferry connect and xenferry listen, by xl and by xenferry migrate; a wrong key, an unknown
# peer and a connection that is lost leave it where it is. Garbage and replayed bytes get nobody in, and the listener goes
# on.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,command,makekey,killat timeout=500
tls=$LAB_DIR/tls

tls_host() { # tls_host NAME: keys and a configuration of its own
    makekey "$tls/$1.key" "$tls/$1.pem" || fail "makekey made no key"
    printf 'tls-key = %s\ntls-certificate = %s\nlisten = 127.0.0.1:8803\n' "$tls/$1.key" "$tls/$1.pem" > "$tls/$1.conf"
}
tls_knows() { # tls_knows HOST PEER [KEY'S OWNER]
    echo "peer = $2 $(xenferry listen --pin --config "$tls/${3:-$2}.conf") 127.0.0.1" >> "$tls/$1.conf"
}
tls_migrate() { # tls_migrate HOST [xenferry connect's options]
    local host=$1; shift
    : > "$STATS"
    with_engine ours within "${MIGRATE_SECONDS:-170}" xl migrate -s "xenferry connect -v --config $tls/$host.conf $*" g1 there
}
tls_refused() { # tls_refused 'TEXT' HOST
    expect_fail "$1" tls_migrate "$2"
    equal 'the exit status of xl migrate' "$LAB_STATUS" 1
    equal 'the domain id of g1' "$(guest_id g1)" "$before"
    wait_until 15 'nothing incoming is left' nothing_incoming
    log_dirty_off g1
    guest_ticks_advance
}

step 'keys, and a listener' 60
ifconfig lo 127.0.0.1 up
mkdir -p "$tls"
for host in here there stranger; do tls_host $host; done
tls_knows there here
tls_knows here there
tls_knows stranger there
tls_host wrong
tls_knows wrong there here      # expects another key than the one that answers
env "XENFERRY_STATS=$STATS" xenferry listen --config "$tls/there.conf" 2> "$tls/listen.log" &
listener=$!
wait_until 30 'the listener to listen' grep -q 'listening on' "$tls/listen.log"

step 'start the guest' 90
guest_start type=pvh memory=128 mib=16 dirty=4 rate=2 fill=zero
before=$(guest_id g1)

step 'another key answers than expected' 60
tls_refused 'it is another host that answers' wrong

step 'a stranger calls' 60
tls_refused "doesn't accept this host's key" stranger

step 'garbage calls' 60
log_lines() { wc -l < "$tls/listen.log"; }
log_grew() { [ "$(log_lines)" -gt "$lines" ]; }
# sends 'WHAT' FILE: it goes to the listener, which refuses it in a sentence and goes on.
sends() {
    lines=$(log_lines)
    timeout 60 nc 127.0.0.1 8803 < "$2" > "$tls/answer"
    wait_until 20 "the listener to say what is wrong with $1" log_grew
    note "$1: $(tail -1 "$tls/listen.log")"
    running $listener || fail "the listener ended at $1"
}
head -c 100000 /dev/urandom > "$tls/random"
sends 'random bytes' "$tls/random"
printf 'GET / HTTP/1.0\r\nHost: there.example.org\r\n\r\n' > "$tls/request"
sends 'a request of another protocol' "$tls/request"

step 'a session is replayed' 60
# A tap between both: what here sends is kept.
sed 's/ 127.0.0.1$/ 127.0.0.1:8804/' "$tls/here.conf" > "$tls/tapped.conf"
mkfifo "$tls/back"
timeout 60 nc -l -p 8804 < "$tls/back" | tee "$tls/sent" | timeout 60 nc 127.0.0.1 8803 > "$tls/back" &
sleep 1
xenferry connect --config "$tls/tapped.conf" there xl migrate-receive < /dev/null > "$tls/answer" 2>&1
wait_until 20 'the session to have ended' grep -q 'here: xl ended' "$tls/listen.log"
[ "$(stat -c %s "$tls/sent")" -gt 500 ] || fail 'the tap kept nothing'
equal 'sessions begun' "$(grep -c 'xl migrate-receive begins' "$tls/listen.log")" 1
sends 'what a session sent' "$tls/sent"
head -c 300 "$tls/sent" > "$tls/beginning"
sends 'its beginning' "$tls/beginning"
equal 'sessions begun' "$(grep -c 'xl migrate-receive begins' "$tls/listen.log")" 1

step 'the connection is lost' 90
: > "$STATS"
killat "$STATS" '"event":"progress"' -- 9 "@$tls/connect" &
watcher=$!
printf '#!/bin/sh\necho $$ > %s/connect\nexec xenferry connect --config %s/here.conf --bandwidth 20M "$@"\n' "$tls" "$tls" \
    > "$tls/connect.sh"
chmod +x "$tls/connect.sh"
expect_fail '' with_engine ours within 60 xl migrate -s "$tls/connect.sh" g1 there
wait $watcher || fail 'the connection was not cut'
equal 'the domain id of g1' "$(guest_id g1)" "$before"
wait_until 15 'nothing incoming is left' nothing_incoming
log_dirty_off g1
guest_ticks_advance

step 'migrate' 170
guest_gap_reset
run tls_migrate here --connections 2
cat "$LAB_DIR/run.out"
[ "$(guest_id g1)" != "$before" ] || fail "guest g1 is still domain $before after the migration"
stats_report
# The greeting said that the other end makes sure of zeroes.
[ "$(stat_of end save elided)" -gt 1000 ] || fail 'no pages of zeroes were left out'
grep -q 'xl ended with exit status 0' "$tls/listen.log" || fail 'the listener knows nothing of a success'

step 'migrate by xenferry' 170
before=$(guest_id g1)
run within 170 xenferry migrate --ssh "xenferry connect --config $tls/here.conf" g1 there
[ "$(guest_id g1)" != "$before" ] || fail "guest g1 is still domain $before after the migration"
grep -qF "engine here, there   ours, the listener's choice" "$LAB_DIR/run.out" || fail 'the summary knows more than it can'
grep -qF 'pause as predicted ' "$LAB_DIR/run.out" || fail 'the summary lacks the prediction'
equal 'migrations of which the listener knows success' "$(grep -c 'xl ended with exit status 0' "$tls/listen.log")" 2

step 'check the guest' 90
guest_ticks_advance
guest_pause
guest_check
kill "$listener"
wait "$listener"
equal "the listener's exit status" $? 0
cat "$tls/listen.log"
