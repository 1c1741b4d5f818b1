# Runs one scenario: time limits, clean-up, comparison, logs, verdict.
# SPDX-License-Identifier: LGPL-2.1-or-later

# Runs in a session of its own (see run_scenario).
scenario_main() {
    set -u
    step 'begin' 60
    use_module "$LAB_WANTED_MODULE"     # one before may have had another
    . "/lab/scenarios/$LAB_SCENARIO.sh"
    : > "$LAB_DIR/finished"
    exit 0
}

# running PID: is it there, and no zombie, which still answers to kill -0?
running() {
    local line
    { read -r line < "/proc/$1/stat"; } 2>/dev/null || return 1
    case ${line##*) } in [ZX]*) return 1 ;; esac
}

# Waits for the scenario's end, its step's limit, or its own; kills it in the latter two cases.
scenario_watch() { # scenario_watch PID SECONDS
    local pid=$1 end limit seconds what why
    now
    end=$((LAB_NOW + $2))
    while running "$pid"; do
        usleep 300000
        why=
        read -r limit seconds what < "$LAB_DIR/step" 2>/dev/null || continue
        now
        [ "$LAB_NOW" -le "$limit" ] || why="the step took longer than its $seconds s"
        [ "$LAB_NOW" -le "$end" ] || why="the scenario took longer than its $2 s"
        [ -n "$why" ] || continue
        running "$pid" || break
        [ -e "$LAB_DIR/failure" ] || echo "$why" > "$LAB_DIR/failure"
        ps -o pid,ppid,stat,args > "$LAB_DIR/processes"
        kill -KILL "-$pid"
    done
}

scenario_clean_up() {
    local name
    sort -u "$LAB_DIR/guests" 2>/dev/null | while read -r name; do
        guest_id "$name" > /dev/null && within 60 xl destroy "$name"
    done
    rm -f /var/lib/xen/*.save
}

# Gives what ends late some time (15 s), then says what differs.
scenario_settle() {
    local end
    now
    end=$((LAB_NOW + LAB_SETTLE))
    while :; do
        state_difference > "$LAB_DIR/difference"
        [ -s "$LAB_DIR/difference" ] || return 0
        now
        [ "$LAB_NOW" -lt "$end" ] || return 1
        usleep 200000
    done
}

# What was left over has been reported; the next scenario shall not stumble over it.
scenario_sweep_away() {
    local id
    toolstack_processes | while read -r id _; do
        grep -qx "$id" "$LAB_DIR/before.processes" || kill -KILL "$id"
    done
    for id in $(xl list 2>/dev/null | awk 'NR > 2 {print $2}'); do within 60 xl destroy "$id"; done
}

scenario_logs() { # scenario_logs pass|fail
    within 20 xl dmesg -c | lab-report log "$LAB_SCENARIO/xen"
    dmesg -c | lab-report log "$LAB_SCENARIO/dom0-kernel"
    tail -c 60000 "$LAB_DIR/output" | lab-report log "$LAB_SCENARIO/output"
    # The ticks, which say nothing to a reader, would hide the rest.
    for LAB_FILE in /var/log/xen/console/*.log; do
        [ -s "$LAB_FILE" ] || continue
        { grep -av -e 'xf tick' -e '^[[:space:]]*$' "$LAB_FILE" | tail -c 20000
          grep -a 'xf tick' "$LAB_FILE" | tail -5; } | lab-report log "$LAB_SCENARIO/$(basename "$LAB_FILE" .log)"
    done
    [ "$1" = fail ] || return 0
    [ ! -e "$LAB_DIR/processes" ] || lab-report log "$LAB_SCENARIO/processes" < "$LAB_DIR/processes"
    for LAB_FILE in /var/log/xen/*.log; do
        [ -s "$LAB_FILE" ] && tail -c 10000 "$LAB_FILE" | lab-report log "$LAB_SCENARIO/$(basename "$LAB_FILE" .log)"
    done
}

run_scenario() { # run_scenario NAME SECONDS MODULE
    local pid where verdict=pass
    LAB_SCENARIO=$1 LAB_DIR=/run/lab/$1 STATS=/run/lab/$1/stats.jsonl LAB_WANTED_MODULE=$3
    export LAB_SCENARIO LAB_DIR STATS LAB_WANTED_MODULE
    mkdir -p "$LAB_DIR"
    : > "$STATS"
    echo "lab: scenario $1 begins" > /dev/kmsg
    rm -f /var/log/xen/*.log
    for LAB_FILE in /var/log/xen/console/*.log; do [ ! -e "$LAB_FILE" ] || rm -f "$LAB_FILE"; done
    lab-report begin "$1" "$2"
    state_before

    setsid sh -c '. /lab/job.conf; . /lab/lib/all.sh; scenario_main' > "$LAB_DIR/output" 2>&1 &
    pid=$!
    scenario_watch "$pid" "$2"
    wait "$pid"
    [ -e "$LAB_DIR/finished" ] || [ -e "$LAB_DIR/failure" ] ||
        echo "the scenario ended early" > "$LAB_DIR/failure"

    where=$(cut -d' ' -f3- "$LAB_DIR/step")
    if [ -e "$LAB_DIR/failure" ]; then
        verdict=fail
    fi
    if daemons_run; then
        lab-report step "$1" 'clean up'
        scenario_clean_up >> "$LAB_DIR/output" 2>&1
        lab-report step "$1" 'settle'
        if ! scenario_settle && [ $verdict = pass ]; then
            verdict=fail
            where='compare with before'
            tr '\n' ';' < "$LAB_DIR/difference" > "$LAB_DIR/failure"
        fi
        [ ! -s "$LAB_DIR/difference" ] || scenario_sweep_away >> "$LAB_DIR/output" 2>&1
    else
        verdict=fail
        echo 'xenstored or xenconsoled does not run afterwards' >> "$LAB_DIR/failure"
    fi
    lab-report step "$1" 'logs'
    scenario_logs $verdict
    lab-report step "$1" 'end'
    echo "lab: scenario $1 ends" > /dev/kmsg
    if [ $verdict = pass ]; then
        lab-report verdict "$1" "pass"
    else
        lab-report verdict "$1" "fail
$where
$(cat "$LAB_DIR/failure")
$([ ! -s "$LAB_DIR/difference" ] || cat "$LAB_DIR/difference")"
    fi
    # Without the daemons nothing works any more: what is left to do gets a boot of its own.
    daemons_run || poweroff -f
}
