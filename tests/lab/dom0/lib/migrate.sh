# Migration, save and restore with a chosen engine at each side:
#   ours    our engine, by LIBXL_SAVE_HELPER
#   stock   libxenguest alone, nothing of ours in the way
#   timed   libxenguest, handed over and timed by our helper (XENFERRY_ENGINE=stock)
# Statistics of the last operation stand in $STATS (JSON lines).
# SPDX-License-Identifier: LGPL-2.1-or-later

LAB_HELPER=/usr/lib/xenferry/xenferry-save-helper

with_engine() { # with_engine ours|stock|timed COMMAND...
    local engine=$1; shift
    case $engine in
    ours) env -u XENFERRY_ENGINE LIBXL_SAVE_HELPER=$LAB_HELPER "XENFERRY_STATS=$STATS" "$@" ;;
    timed) env LIBXL_SAVE_HELPER=$LAB_HELPER "XENFERRY_STATS=$STATS" XENFERRY_ENGINE=stock "$@" ;;
    stock) env -u LIBXL_SAVE_HELPER -u XENFERRY_ENGINE "$@" ;;
    *) fail "what engine is '$engine'?" ;;
    esac
}

# try_migrate NAME from=ENGINE to=ENGINE [xl migrate flags]: may fail; output on stdout.
try_migrate() {
    local name=$1 from=stock to=stock flags= arg; shift
    for arg; do
        case $arg in
        from=*|to=*) local "$arg" ;;
        *) flags="$flags $arg" ;;
        esac
    done
    : > "$STATS"
    # The remote shell that xl would start: it drops the host's name and gives the receiving side its engine.
    {
        echo '#!/bin/sh'
        echo 'shift'
        echo '. /lab/lib/migrate.sh'
        echo "STATS=$STATS"
        echo "with_engine $to \"\$@\""
    } > "$LAB_DIR/remote-shell"
    chmod +x "$LAB_DIR/remote-shell"
    with_engine "$from" within "${MIGRATE_SECONDS:-170}" xl migrate -s "$LAB_DIR/remote-shell" $flags "$name" localhost
}

# migrate NAME from=ENGINE to=ENGINE [flags]: must succeed. Leaves MIGRATE_S, the seconds it took.
migrate() {
    local name=$1 before start
    before=$(guest_id "$name") || fail "there is no guest $name to migrate"
    start=$(cut -d' ' -f1 /proc/uptime)
    run try_migrate "$@"
    cp "$LAB_DIR/run.out" "$LAB_DIR/migrate.out"
    MIGRATE_S=$(echo "$start $(cut -d' ' -f1 /proc/uptime)" | awk '{printf "%.2f", $2 - $1}')
    figure migrate_s "$MIGRATE_S" s
    [ "$(guest_id "$name")" != "$before" ] || fail "guest $name is still domain $before after the migration"
    stats_report
}

# save NAME FILE engine=ENGINE [xl save flags]
save() {
    local name=$1 file=$2 engine=stock flags= arg; shift 2
    for arg; do case $arg in engine=*) local "$arg" ;; *) flags="$flags $arg" ;; esac; done
    : > "$STATS"
    run with_engine "$engine" within 170 xl save $flags "$name" "$file"
    stats_report
}

# restore FILE engine=ENGINE [xl restore flags]
restore() {
    local file=$1 engine=stock flags= arg; shift
    for arg; do case $arg in engine=*) local "$arg" ;; *) flags="$flags $arg" ;; esac; done
    : > "$STATS"
    run with_engine "$engine" within 170 xl restore $flags "$file"
    stats_report
}

stats_report() { [ ! -s "$STATS" ] || lab-report stats "$LAB_SCENARIO" < "$STATS"; }

# stat EVENT SIDE KEY: the value of a key in the last such line of the statistics.
stat_of() {
    grep "\"event\": *\"$1\"" "$STATS" | grep "\"side\": *\"$2\"" | tail -1 |
        sed -n "s/.*\"$3\": *\"\{0,1\}\([^\",}]*\).*/\1/p"
}

# migrate_must_fail 'TEXT' NAME from=ENGINE to=ENGINE [flags]: fails, says TEXT, and leaves everything as it was: the
# same domain id running, log-dirty off, nothing incoming.
migrate_must_fail() {
    local text=$1 name=$2 before; shift
    before=$(guest_id "$name")
    expect_fail "$text" try_migrate "$@"
    cp "$LAB_DIR/run.out" "$LAB_DIR/migrate.out"
    equal "the exit status of xl migrate" "$LAB_STATUS" 1
    equal "the domain id of $name" "$(guest_id "$name")" "$before"
    wait_until 15 "nothing incoming is left" nothing_incoming
    log_dirty_off "$name"
}
nothing_incoming() { ! xl list | grep -q -- '--incoming'; }

# leave_free MIB: a paused domain named hog takes the rest of Xen's memory.
leave_free() {
    local free
    free=$(($(lab-probe free) / 256))
    printf 'name = "hog"\ntype = "pvh"\nkernel = "/boot/vmlinux"\nmemory = %d\n' $((free - $1 - 24)) > /etc/xen/hog.cfg
    echo hog >> "$LAB_DIR/guests"
    run within 60 xl create -p /etc/xen/hog.cfg
    note "$(($(lab-probe free) / 256)) MiB are free"
}

# migrate_in_a_row TIMES from=ENGINE to=ENGINE: a guest that dirties memory, moved so often, checked after each.
migrate_in_a_row() {
    local round times=$1; shift
    step 'start the guest' 90
    guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
    guest_check
    for round in $(seq "$times"); do
        guest_gap_reset
        step "migration $round" 170
        migrate g1 "$@"
        step "check the guest after migration $round" 90
        guest_ticks_advance
        guest_pause
        guest_check
    done
}

# migrate_once_more: after what went wrong it goes well.
migrate_once_more() {
    step 'another try' 170
    migrate g1 from=ours to=ours
    step 'check the guest at the destination' 90
    guest_ticks_advance
    guest_check
}

# migrate_without_room [COMMAND...]: a migration to a host that has half the memory fails and says so, the guest and the
# COMMAND being well at the source; with room for it the next one succeeds.
migrate_without_room() {
    step 'leave 64 MiB' 60
    leave_free 64
    step 'migrate' 120
    migrate_must_fail 'may need up to' g1 from=ours to=ours
    step 'check the guest at the source' 90
    guest_ticks_advance
    "${@:-true}"
    guest_check
    run xl destroy hog
    migrate_once_more
}

# sending: do pages of the migration under way go already?
sending() { grep -q '"event":"progress"' "$STATS"; }
