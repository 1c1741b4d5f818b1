# A PVH guest that dirties memory migrates with our module and our engine, then with the stock engine, in one boot.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=480
step 'see what runs here' 30
figure xen "$(xl info | sed -n 's/^xen_version *: //p')"
figure dom0_kernel "$(uname -r)"
figure module_version "$(cat /sys/module/xen_privcmd/version)"
figure guest_mib 128
figure dirty_mib 24
figure dirty_rate 8

step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
guest_check

for engine in ours timed; do
    name=ours
    [ $engine = ours ] || name=stock
    step "migrate with the $name engine" 170
    guest_gap_reset
    migrate g1 from=$engine to=$engine
    step "check the guest after the migration with the $name engine" 90
    guest_ticks_advance
    guest_pause
    [ "$LAB_FAULT" != page ] || guest_corrupt
    guest_check
    figure "$name.xl_migrate_s" "$MIGRATE_S"
    figure "$name.guest_pause_ms" "$GUEST_PAUSE_MS"
    figure "$name.guest_checked" "$GUEST_PAGES"
    figure "$name.guest_errors" "$GUEST_ERRORS"
done
