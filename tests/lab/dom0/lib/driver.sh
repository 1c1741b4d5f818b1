# What the scenarios of the driver share.
# SPDX-License-Identifier: LGPL-2.1-or-later

# paused_guest [NAME]: a PVH guest of 128 MiB that never runs, so that its memory may be written over.
paused_guest() {
    local name=${1:-g1}
    printf 'name = "%s"\ntype = "pvh"\nkernel = "%s"\nmemory = 128\n' "$name" "$(command -v still-guest)" \
        > "/etc/xen/$name.cfg"
    echo "$name" >> "$LAB_DIR/guests"
    run within 90 xl create -e -p "/etc/xen/$name.cfg"
}

no_guests() { [ "$(xl list | wc -l)" = 2 ]; }

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

# conform_compare < EXCEPTIONS: what ours prints must be what stock prints, line for line; where the case can't be run
# on stock, ours must print the lines given, and all of them.
conform_compare() {
    local line
    cat > "$LAB_DIR/exceptions"
    cat "$LAB_DIR/conform.ours"
    grep -vF 'not run on the stock module' "$LAB_DIR/conform.stock" > "$LAB_DIR/lines.stock"
    grep -F 'not run on the stock module' "$LAB_DIR/conform.stock" | cut -d: -f1 > "$LAB_DIR/cases.exempt"
    awk -F: 'NR == FNR {exempt[$1]; next} !($1 in exempt)' "$LAB_DIR/cases.exempt" "$LAB_DIR/conform.ours" > "$LAB_DIR/lines.ours"
    awk -F: 'NR == FNR {exempt[$1]; next} $1 in exempt' "$LAB_DIR/cases.exempt" "$LAB_DIR/conform.ours" > "$LAB_DIR/exempt.ours"
    figure conform_lines "$(wc -l < "$LAB_DIR/lines.ours")"
    figure conform_exceptions "$(wc -l < "$LAB_DIR/cases.exempt")"
    for line in stock ours; do
        [ -s "$LAB_DIR/lines.$line" ] || fail "privcmd-conform printed nothing on the $line module"
    done
    diff "$LAB_DIR/lines.stock" "$LAB_DIR/lines.ours" ||
        fail 'our module does not behave as stock does: see the differences (-: stock, +: ours) in the output'
    diff "$LAB_DIR/exceptions" "$LAB_DIR/exempt.ours" ||
        fail 'our module does not behave as expected where stock fails: see the differences (-: expected, +: ours) in the output'
}
