# Guests with the workload: started, asked, ended. A guest is called g1 unless name=... says otherwise.
# SPDX-License-Identifier: LGPL-2.1-or-later

# guest_start [type=pvh|pv] [memory=MB] [maxmem=MB] [vcpus=N] [mib=MIB] [dirty=MIB] [rate=MIB/s|max|0] [fill=random|zero] [churn=yes|no]
#   [name=g1]
#   mib: memory the workload watches; dirty: how much of it it rewrites, at rate; churn: whether another process of it
#   makes and frees page tables without pause.
guest_start() {
    local type=pvh memory=128 maxmem= vcpus=1 mib=32 dirty=16 rate=8 fill=random churn=no name=g1 extra= arg
    for arg; do
        case $arg in
        type=*|memory=*|maxmem=*|vcpus=*|mib=*|dirty=*|rate=*|fill=*|churn=*|name=*|extra=*) local "$arg" ;;
        *) fail "guest_start: what is '$arg'?" ;;
        esac
    done
    {
        echo "name = \"$name\""
        echo "type = \"$type\""
        echo 'kernel = "/boot/vmlinux"'
        echo 'ramdisk = "/boot/workload.cpio"'
        echo "memory = $memory"
        [ -z "$maxmem" ] || echo "maxmem = $maxmem"
        echo "vcpus = $vcpus"
        echo 'tsc_mode = "native"'
        [ -z "$LAB_GUEST_CPUS" ] || echo "cpus = \"$LAB_GUEST_CPUS\""
        echo "cmdline = \"console=hvc0 quiet $extra xf_mib=$mib xf_dirty=$dirty xf_rate=$rate xf_fill=$fill xf_churn=$churn\""
    } > "/etc/xen/$name.cfg"
    echo $((mib * 256)) > "$LAB_DIR/pages.$name"
    echo "$name" >> "$LAB_DIR/guests"
    for arg in $(guest_logs "$name"); do mv "$arg" "$arg.old"; done
    run within 60 xl create "/etc/xen/$name.cfg"
    wait_until 60 "guest $name says that its workload is ready" guest_ready "$name"
}

guest_id() { xl domid "${1:-g1}" 2>/dev/null; }
# The console log: xenconsoled names it after the domain as it was called when it appeared.
guest_logs() { ls "/var/log/xen/console/guest-$1.log" "/var/log/xen/console/guest-$1--incoming.log" 2>/dev/null; }
guest_said() { # guest_said NAME TEXT
    LAB_LOGS=$(guest_logs "$1")
    [ -n "$LAB_LOGS" ] && grep -qF -- "$2" $LAB_LOGS
}

guest_ready() {
    ! guest_said "$1" 'Kernel panic' || fail "guest $1 panicked: $(grep -ah 'Kernel panic' $LAB_LOGS | head -1)"
    guest_said "$1" 'xf ready'
}

# guest_ask NAME VERB [ARGUMENT]: sends a command, prints the workload's answer (its key=value part).
# The answer carries the token of the question, so no older line is taken for it.
guest_ask() {
    local name=$1 verb=$2 argument=${3:-} tty token try answer
    token=t$(cut -d. -f1 /proc/uptime)x$(hexdump -v -n 3 -e '1/1 "%02x"' /dev/urandom)
    for try in 1 2 3; do
        tty=$(xenstore-read "/local/domain/$(guest_id "$name")/console/tty" 2>/dev/null)
        [ -n "$tty" ] && timeout 5 sh -c "echo '$verb $token $argument' > $tty"
        for LAB_TRY in $(seq 100); do
            # The logs of guest_logs, but without a process to list them. A line is whole when it ends with its dot.
            answer=$(cd /var/log/xen/console && grep -ah "xf $verb $token .* \.\$" "guest-$name.log" \
                     "guest-$name--incoming.log" 2>/dev/null | tail -1)
            if [ -n "$answer" ]; then
                answer=${answer#*$token }
                echo "${answer% .}"
                return 0
            fi
            usleep 200000
        done
        case $verb in corrupt) break ;; esac    # doing it twice would undo it
    done
    return 1
}

value_of() { # value_of KEY "key=value key=value"
    echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# guest_check [NAME]: the workload checks each of its pages, from now on; any bad one fails the scenario.
# Leaves GUEST_PAGES and GUEST_ERRORS.
guest_check() {
    local name=${1:-g1} answer
    answer=$(guest_ask "$name" sweep) || fail "guest $name does not answer to a self-check"
    GUEST_PAGES=$(value_of pages "$answer")
    GUEST_ERRORS=$(value_of errors "$answer")
    note "self-check of $name: $answer"
    figure guest_checked "$GUEST_PAGES" pages
    figure guest_errors "$GUEST_ERRORS"
    equal "the number of pages checked in $name" "$GUEST_PAGES" "$(cat "$LAB_DIR/pages.$name")"
    [ "$GUEST_ERRORS" = 0 ] || fail "the self-check of $name found bad pages: $answer; $(guest_bad_pages "$name")"
    equal "how often MONOTONIC went back in $name" "$(value_of backwards "$answer")" 0
    equal "the bad rounds of page-table churn in $name" "$(value_of churn_bad "$answer")" 0
}

guest_bad_pages() { grep -ah 'xf bad' $(guest_logs "$1") | tail -3 | tr -d '\r' | tr '\n' ';'; }

# guest_ticks_advance [NAME]: waits until each of its vCPUs has gone on. The newest log has the running guest's lines.
guest_tick_values() { # guest_tick_values NAME: tick number and count of the slowest vCPU, from the newest tick line
    LAB_LOG=$(ls -t $(guest_logs "$1") | head -1)
    grep -a 'xf tick' "$LAB_LOG" | tail -1 | sed 's/.* n=\([0-9]*\) .*slowest=\([0-9]*\).*/\1 \2/'
}
guest_ticked_past() { # guest_ticked_past NAME TICK SLOWEST
    set -- "$@" $(guest_tick_values "$1")
    [ "${4:-0}" -gt "$2" ] && [ "${5:-0}" -gt "$3" ]
}
guest_ticks_advance() {
    local name=${1:-g1}
    set -- $(guest_tick_values "$name")
    wait_until 30 "the vCPUs of $name tick" guest_ticked_past "$name" $((${1:-0} + 1)) $((${2:-0} + 1))
}

# guest_churn_advances [NAME]: waits until it has churned on (churn=yes); leaves GUEST_CHURNS, the rounds so far.
guest_churns() {
    LAB_LOG=$(ls -t $(guest_logs "$1") | head -1)
    grep -a 'xf tick' "$LAB_LOG" | tail -1 | sed -n 's/.* churns=\([0-9]*\) .*/\1/p'
}
guest_churned_past() { # guest_churned_past NAME ROUNDS
    GUEST_CHURNS=$(guest_churns "$1")
    [ "${GUEST_CHURNS:-0}" -gt "$2" ]
}
guest_churn_advances() {
    local name=${1:-g1} before
    before=$(guest_churns "$name")
    wait_until 30 "$name churns page tables" guest_churned_past "$name" $((${before:-0} + 2))
}

# guest_gap_reset [NAME]; guest_pause [NAME]: leaves GUEST_PAUSE_MS, the longest stretch without the guest since then.
guest_gap_reset() { guest_ask "${1:-g1}" gap > /dev/null || fail "guest ${1:-g1} does not answer"; }
guest_pause() {
    local answer
    answer=$(guest_ask "${1:-g1}" gap) || fail "guest ${1:-g1} does not answer"
    note "gaps of ${1:-g1}: $answer"
    GUEST_PAUSE_MS=$(($(value_of real_us "$answer") / 1000))
    figure guest_pause_ms "$GUEST_PAUSE_MS" ms
}

# guest_rate RATE [NAME]; guest_corrupt [NAME]: flips a bit of one page, which the next check must find.
guest_rate() { guest_ask "${2:-g1}" rate "$1" > /dev/null || fail "guest ${2:-g1} does not answer"; }
guest_corrupt() { guest_ask "${1:-g1}" corrupt > /dev/null || fail "guest ${1:-g1} does not answer"; }

guest_destroy() { run within 60 xl destroy "${1:-g1}"; }

# guest_memory [NAME]: the MiB that xl list says it has; guest_has_memory MIB [NAME]: does it say that?
guest_memory() { xl list "${1:-g1}" | awk 'NR == 2 { print $3 }'; }
guest_has_memory() { [ "$(guest_memory "${2:-g1}")" = "$1" ]; }

# empty_guest NAME: a PVH domain that never runs.
empty_guest() {
    printf 'name = "%s"\ntype = "pvh"\nkernel = "/boot/vmlinux"\nmemory = 128\n' "$1" > "/etc/xen/$1.cfg"
    run within 60 xl create -p "/etc/xen/$1.cfg"
}
