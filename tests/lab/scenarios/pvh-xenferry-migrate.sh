# `xenferry migrate` moves a PVH guest with our engine at both sides, and sums it up for people and for machines.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,command timeout=300
printf '#!/bin/sh\nshift\nexec "$@"\n' > "$LAB_DIR/ssh"
chmod +x "$LAB_DIR/ssh"

step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
guest_check
before=$(guest_id g1)

step 'migrate' 180
run within 170 xenferry migrate --ssh "$LAB_DIR/ssh" --json "$LAB_DIR/ferry.json" g1 localhost
[ "$(guest_id g1)" != "$before" ] || fail "guest g1 is still domain $before after the migration"
for text in 'Moved "g1" (128 MiB) to localhost' 'engine here, there   ours, ours' 'round 0: ' \
            'pause of the engine ' "both sides' end "; do
    grep -qF "$text" "$LAB_DIR/run.out" || fail "the summary lacks '$text'"
done
! grep -q -e 'not known' -e 'made no sense' "$LAB_DIR/run.out" || fail 'the summary has gaps'
grep -q '"result": *"migrated"' "$LAB_DIR/ferry.json" || fail 'the JSON does not say migrated'
figure engine_pause_ms "$(sed -n 's/.*"engine_pause_ms": *\([0-9.]*\).*/\1/p' "$LAB_DIR/ferry.json")" ms
equal 'directories left in /tmp' "$(ls -d /tmp/xenferry-* 2>/dev/null | wc -l)" 0

step 'check the guest' 90
guest_ticks_advance
guest_check

step 'migrate with the stock engine receiving' 180
run within 170 xenferry migrate --stock-receiver --ssh "$LAB_DIR/ssh" g1 localhost
grep -qF 'engine here, there   ours, stock' "$LAB_DIR/run.out" || fail 'the stock engine did not receive'

step 'check the guest' 90
guest_ticks_advance
guest_check
