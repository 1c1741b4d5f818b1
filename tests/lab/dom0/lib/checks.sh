# What must be the same before and after a scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later

domains() { xl list 2>/dev/null | awk 'NR > 1 {print $1}' | sort | tr '\n' ' '; }
toolstack_processes() {
    ps -o pid,comm,args | awk '$2 ~ /^(xl|libxl-save-helper|libxl-save-help|xenferry.*)$/ {print}' | sed 's/^ *//'
}
log_dirty_domains() {
    local id
    for id in $(xl list 2>/dev/null | awk 'NR > 2 {print $2}'); do
        [ "$(lab-probe logdirty "$id" 2>/dev/null)" != on ] || echo "$id"
    done
}

# log_dirty_off [NAME]: the guest's log-dirty mode must be off, if Xen has it for such a guest. After a save that went
# well its guard sees to it.
log_dirty_off() {
    local mode
    wait_until 20 'the guard is gone' no_guard
    mode=$(lab-probe logdirty "$(guest_id "${1:-g1}")")
    [ "$mode" = none ] || equal "log-dirty of ${1:-g1}" "$mode" off
}
no_guard() { ! ps -o comm | grep -q '^xenferry-guard'; }

# all_its_cpu [NAME]: nobody caps the guest.
all_its_cpu() { equal "the cap of ${1:-g1}" "$(xl sched-credit2 -d "${1:-g1}" | awk -v n="${1:-g1}" '$1 == n {print $4}')" 0; }

state_before() {
    domains > "$LAB_DIR/before.domains"
    toolstack_processes | cut -d' ' -f1 > "$LAB_DIR/before.processes"
    lab-probe free > "$LAB_DIR/before.free"
}

# Xen's own heap takes or gives a page now and then: the first guest of a boot costs two pages for good, and one on
# two CPUs five; the first migrations of a PV guest with two vCPUs up to four more, and no more for five of them than
# for two. So eight pages for each CPU that guests run on.
LAB_FREE_TOLERANCE=8
case $LAB_GUEST_CPUS in
*-*) LAB_FREE_TOLERANCE=$((8 * (${LAB_GUEST_CPUS#*-} - ${LAB_GUEST_CPUS%-*} + 1))) ;;
esac

# What is not as it was, one line each; nothing if all is well. Memory comes back a little after a domain's end.
state_difference() {
    local now free processes pid
    now=$(domains)
    [ "$now" = "$(cat "$LAB_DIR/before.domains")" ] ||
        echo "domains are '$now', were '$(cat "$LAB_DIR/before.domains")'"
    toolstack_processes | while read -r pid processes; do
        grep -qx "$pid" "$LAB_DIR/before.processes" || echo "a process is left over: $pid $processes"
    done
    free=$(lab-probe free)
    [ "$free" -ge $(($(cat "$LAB_DIR/before.free") - LAB_FREE_TOLERANCE)) ] ||
        echo "Xen has $free pages free, had $(cat "$LAB_DIR/before.free")"
    log_dirty_domains | sed 's/^/log-dirty is still on for domain /'
}

nothing_runs() { [ "$(xl list | wc -l)" = 2 ] && [ -z "$(toolstack_processes)" ]; }
