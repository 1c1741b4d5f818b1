# Steps, figures and failures of the scenario that runs.
# SPDX-License-Identifier: LGPL-2.1-or-later

# now: leaves LAB_NOW, seconds since the start. It is asked all the time, and a process of its own would take the emulated
# CPU long.
now() {
    read -r LAB_NOW LAB_IDLE < /proc/uptime
    LAB_NOW=${LAB_NOW%%.*}
}

# step 'WHAT' [SECONDS]: what is being done from here on, and the longest it may take (120 s unless said). Limits are
# for an idle machine; LAB_PATIENCE times as much is given.
step() {
    LAB_LIMIT=$((${2:-120} * LAB_PATIENCE))
    now
    echo "$((LAB_NOW + LAB_LIMIT)) $LAB_LIMIT $1" > "$LAB_DIR/step.new"
    mv "$LAB_DIR/step.new" "$LAB_DIR/step"
    echo "--- $1"
    lab-report step "$LAB_SCENARIO" "$1"
}

# fail 'WHY': ends the scenario.
fail() {
    [ -e "$LAB_DIR/failure" ] || echo "$*" > "$LAB_DIR/failure"
    echo "FAILED: $*"
    exit 1
}

# figure NAME VALUE [UNIT]
figure() {
    echo "figure $1 = $2 ${3:-}"
    lab-report figure "$LAB_SCENARIO" "$1 $2 ${3:-}"
}

# note TEXT: a line for whoever reads the log.
note() { echo "note: $*"; }

# run COMMAND...: must succeed; its output goes to the log.
run() {
    echo "+ $*"
    "$@" > "$LAB_DIR/run.out" 2>&1
    LAB_STATUS=$?
    cat "$LAB_DIR/run.out"
    [ $LAB_STATUS = 0 ] || fail "'$*' ended with exit status $LAB_STATUS: $(last_line "$LAB_DIR/run.out")"
}

# expect_fail 'TEXT' COMMAND...: must fail, and say TEXT (a fixed string) on the way.
expect_fail() {
    LAB_TEXT=$1; shift
    echo "+ $* (must fail)"
    "$@" > "$LAB_DIR/run.out" 2>&1
    LAB_STATUS=$?
    cat "$LAB_DIR/run.out"
    [ $LAB_STATUS != 0 ] || fail "'$*' succeeded, but had to fail"
    grep -qF -- "$LAB_TEXT" "$LAB_DIR/run.out" ||
        fail "'$*' failed (exit status $LAB_STATUS) without saying '$LAB_TEXT', but: $(last_line "$LAB_DIR/run.out")"
}

# short_or_long SHORT LONG: the first, or the second where LONG=1 was given to make.
short_or_long() { if [ "$LAB_LONG" = 1 ]; then echo "$2"; else echo "$1"; fi; }

# equal WHAT FOUND EXPECTED
equal() { [ "$2" = "$3" ] || fail "$1 is '$2', expected '$3'"; }

last_line() { grep -v '^[[:space:]]*$' "$1" | tail -1; }

# wait_until SECONDS 'WHAT' COMMAND...: tries until the command succeeds.
wait_until() {
    now
    LAB_UNTIL=$((LAB_NOW + $1 * LAB_PATIENCE)); LAB_WHAT=$2; shift 2
    until "$@"; do
        now
        [ "$LAB_NOW" -lt "$LAB_UNTIL" ] || fail "waited in vain: $LAB_WHAT"
        usleep 200000
    done
}
