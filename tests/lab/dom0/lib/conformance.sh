# Conformance of our module with stock's: what privcmd-conform prints on both, and where they may differ.
# SPDX-License-Identifier: LGPL-2.1-or-later

# conformance SECONDS: the whole scenario; that long for each module.
conformance() {
    step 'stock' "$1"
    conform stock
    step 'ours' "$1"
    conform ours
    step 'compare'
    conform_exceptions > "$LAB_DIR/exceptions"
    conform_compare
}

# conform ours|stock: what privcmd-conform sees of that module, in conform.ours or conform.stock.
conform() {
    use_module "$1"
    paused_guest
    privcmd-conform "$(guest_id)" > "$LAB_DIR/conform.$1" 2> "$LAB_DIR/conform.$1.err" || {
        cat "$LAB_DIR/conform.$1"
        fail "privcmd-conform on the $1 module: $(grep -h -e FAILED -e 'could not' "$LAB_DIR/conform.$1" "$LAB_DIR/conform.$1.err" | tail -1)"
    }
    echo "on the $1 module: $(grep -v ' 0\.[0-9] s$' "$LAB_DIR/conform.$1.err" | tr '\n' ';')"
    guest_destroy
    wait_until 20 'the guest is gone' no_guests
}

by_case() { sort -s -t: -k1,1; }

# What ours prints must be what stock prints, line for line; where the case can't be run on stock, ours must print the
# lines of $LAB_DIR/exceptions, and all of them.
conform_compare() {
    local line
    cat "$LAB_DIR/conform.ours"
    grep -vF 'not run on the stock module' "$LAB_DIR/conform.stock" > "$LAB_DIR/lines.stock"
    grep -F 'not run on the stock module' "$LAB_DIR/conform.stock" | cut -d: -f1 > "$LAB_DIR/cases.exempt"
    awk -F: 'NR == FNR {exempt[$1]; next} !($1 in exempt)' "$LAB_DIR/cases.exempt" "$LAB_DIR/conform.ours" > "$LAB_DIR/lines.ours"
    awk -F: 'NR == FNR {exempt[$1]; next} $1 in exempt' "$LAB_DIR/cases.exempt" "$LAB_DIR/conform.ours" |
        by_case > "$LAB_DIR/exempt.ours"
    figure conform_lines "$(wc -l < "$LAB_DIR/lines.ours")"
    figure conform_exceptions "$(wc -l < "$LAB_DIR/cases.exempt")"
    for line in stock ours; do
        [ -s "$LAB_DIR/lines.$line" ] || fail "privcmd-conform printed nothing on the $line module"
    done
    diff "$LAB_DIR/lines.stock" "$LAB_DIR/lines.ours" ||
        fail 'our module does not behave as stock does: see the differences (-: stock, +: ours) in the output'
    by_case < "$LAB_DIR/exceptions" > "$LAB_DIR/exceptions.sorted"
    diff "$LAB_DIR/exceptions.sorted" "$LAB_DIR/exempt.ours" ||
        fail 'our module does not behave as expected where stock fails: see the differences (-: expected, +: ours) in the output'
}

# Where stock stops the kernel, warns, loses frames, frees pages twice or goes on for ever, this is what has to happen.
conform_exceptions() {
    cat <<'BOTH'
dm-op-empty: an empty buffer = -1 EFAULT
dm-op-empty: an empty one at the end = -1 EOPNOTSUPP
resource-outside: before = -1 EINVAL
resource-outside: past the end = -1 EINVAL
move-small: map = 0
move-small: move = 0
move-small: the old place: segv*16
move-small: the new place: ok*8
move-small: the new place: ok*6
move-small: populated = -1 EINVAL
move-small: move back = 0
move-small: the old place: ok*8
move-small: the new place: segv*1
move-small: munmap = 0
move-large: map = 0
move-large: move = 0
move-large: the new place: ok*1536
move-large: the old place: segv*1
move-large: move elsewhere = 0
move-large: the new place: ok*1536
move-large: munmap = 0
buffers-huge: 16 TiB = -1 ENOMEM
BOTH
    "conform_exceptions_$LAB_DOM0"
    "conform_exceptions_$(uname -r | cut -d. -f1,2 | tr . _)"
}

conform_exceptions_6_1() {
    cat <<'K'
ioeventfd-memory: no memory = -1 ENOTTY
ioeventfd-memory: other memory = -1 ENOTTY
ioeventfd-memory: nothing mapped = -1 ENOTTY
K
}

conform_exceptions_6_12() { conform_exceptions_6_1 | sed 's/ENOTTY/EOPNOTSUPP/'; }

conform_exceptions_pv() {
    cat <<'PV'
runs-other-vma: over anonymous memory = -1 EINVAL
move-mixed: fill = 0
move-mixed: errors: 0*1
move-mixed: move = 0
move-mixed: the guest's: ok*1
move-mixed: the guest's: ok*1
move-mixed: signal at the display's: 0
move-mixed: the same content: 1
move-mixed: signal at the hole: 7
move-mixed: munmap = 0
protect-whole: the same = 0
protect-whole: pages: ok*16
protect-whole: writable = -1 EACCES
protect-whole: pages: ok*16
protect-whole: signal at writing: 11
protect-whole: none = -1 EACCES
protect-whole: signal at reading: 0
protect-whole: read-only = 0
protect-whole: signal at writing: 11
protect-whole: pages: ok*16
protect-whole: munmap = 0
protect-whole: afterwards: segv*1
PV
}

conform_exceptions_pvh() {
    cat <<'PVH'
resource-twice: map = 0
resource-twice: map again = -1 EINVAL
resource-twice: signal: 0
resource-twice: munmap = 0
move-mixed: fill = -1 EINVAL
move-mixed: errors: 0*1
move-mixed: move = 0
move-mixed: the guest's: ok*1
move-mixed: the guest's: ok*1
move-mixed: signal at the display's: 0
move-mixed: the same content: 1
move-mixed: signal at the hole: 0
move-mixed: munmap = 0
PVH
}
