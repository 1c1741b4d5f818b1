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

scratch_regions() { grep -c 'Xen scratch' /proc/iomem; }
memory_kb() { sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; }

# error_injection SECONDS: the whole scenario. Walked again (one operation of each kind, or all of them in a long run),
# it must need no more memory than before.
error_injection() {
    local first scratch again
    again=$(short_or_long '@(prepare|open|map|replace-holes|clear|munmap|resource|ends)' '*')
    step 'guests to map' 120
    use_module inject
    paused_guest g1
    paused_guest g2
    step 'walk through the failures' "$1"
    run privcmd-inject "$(guest_id g1)" "$(guest_id g2)"
    figure places "$(sed -n 's/.*: \([0-9]*\) places$/\1/p' "$LAB_DIR/run.out" | awk '{n += $1} END {print n}')"
    scratch=$(scratch_regions)
    first=$(memory_kb)
    run privcmd-inject "$(guest_id g1)" "$(guest_id g2)" "$again"
    figure memory_lost $((first - $(memory_kb))) KiB
    [ $((first - $(memory_kb))) -lt 2048 ] || fail "Dom0 has $(memory_kb) KiB left, had $first before the last walk"
    equal 'the number of regions of unpopulated pages' "$(scratch_regions)" "$scratch"
    step 'the module can go'
    guest_destroy g1
    guest_destroy g2
    wait_until 30 'the guests are gone from xl list' no_guests
    use_module stock
}

# floor_figures: what the bare hypercalls take, and the driver for the same frames. xenferry_floor stays loaded.
floor_figures() {
    step 'start the guest' 300
    paused_guest
    run insmod "$(command -v xenferry-floor.ko)"

    step 'what is refused' 60
    run floor-check refuse "$(guest_id)"

    step 'bare hypercalls and the driver' 600
    # Instructions are counted: a few samples say what many do.
    run floor-check 1 16 512 1024 4096 -- "$(guest_id)" "$(short_or_long 3 9)"
    cat "$LAB_DIR/run.out"
}

# domains_of GUEST...: their ids, in the file that privcmd-stress reads.
domains_of() {
    local name
    for name; do guest_id "$name"; done > "$LAB_DIR/domains.new"
    mv "$LAB_DIR/domains.new" "$LAB_DIR/domains"
}

# stress SECONDS: the whole scenario.
stress() {
    local mapper rounds=0 name value
    step 'guests to map' 150
    paused_guest g1
    guest_start name=g2 type=pvh memory=128 mib=24 dirty=16 rate=4
    domains_of g2
    step 'stress' $(($1 + 120))
    privcmd-stress "$1" "$(guest_id g1)" "$LAB_DIR/domains" > "$LAB_DIR/stress.out" 2>&1 &
    mapper=$!
    # That takes many times as long beside what comes next, and shows nothing.
    wait_until 100 'the frames of g1 to be stamped' grep -q 'stamping the frames took' "$LAB_DIR/stress.out"
    while running $mapper; do
        run xl mem-set g2 96m
        paused_guest g3
        domains_of g2 g3
        sleep 2
        run xl mem-set g2 128m
        guest_destroy g3
        domains_of g2
        rounds=$((rounds + 1))
    done
    wait $mapper || { tail -20 "$LAB_DIR/stress.out"; fail "privcmd-stress: $(grep -v figure "$LAB_DIR/stress.out" | tail -1)"; }
    cat "$LAB_DIR/stress.out"
    figure rounds $rounds
    sed -n 's/^.*figure \([a-z_]*\) \([0-9]*\)$/\1 \2/p' "$LAB_DIR/stress.out" > "$LAB_DIR/stress.figures"
    while read -r name value; do figure "$name" "$value"; done < "$LAB_DIR/stress.figures"
    step 'the guest is well, nothing is left of the others' 120
    guest_ticks_advance g2
    guest_check g2
    wait_until 30 'the destroyed guests are gone' only_remain Domain-0 g1 g2
}
only_remain() { [ "$(xl list | awk 'NR > 1 {print $1}' | tr '\n' ' ')" = "$* " ]; }
