# A PV guest of 256 MiB that may have 64 GiB one day migrates live: what the helpers look at and take follows what is used.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=500
step 'start the guest' 90
guest_start type=pv memory=256 maxmem=65536 mib=40 dirty=8 rate=4
guest_check

# The most memory a process had, kB, for as long as there is one.
watch_peak() {
    local peak=0 now
    while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2> /dev/null) && [ -n "$now" ]; do
        peak=$now
        usleep 50000
    done
    echo "$peak" > "$LAB_DIR/peak.$2"
}
started() { [ -n "$(stat_of start "$1" pid)" ]; }

step 'migrate' 240
: > "$STATS"
for side in save restore; do
    (
        until started $side; do usleep 20000; done
        watch_peak "$(stat_of start $side pid)" $side
    ) &
    eval "$side=$!"
done
migrate g1 from=ours to=ours
wait "$save"
wait "$restore"

step 'check the guest' 90
guest_ticks_advance
guest_check
frames=$(stat_of start save pages)
figure frames "$frames"
# Linux has room in its P2M for ten times the memory it starts with, and something at the end of that.
[ "$frames" -le $((12 * 256 * 256)) ] || fail "the save looked at $frames frames of a guest that has $((256 * 256))"
for side in save restore; do
    peak=$(cat "$LAB_DIR/peak.$side")
    figure "peak_$side" "$peak" kB
    [ "$peak" -gt 1000 ] || fail "the helper of the $side was not seen at work"
    [ "$peak" -le 65536 ] || fail "the helper of the $side took $peak kB for a guest of 256 MiB"
done
