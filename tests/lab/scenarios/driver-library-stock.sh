# libxcbatch over the stock module: windows of every shape, log-dirty, refusals.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock needs=xcbatch-check timeout=300
step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8

step 'log-dirty' 60
run xcbatch-check dirty "$(guest_id)"
log_dirty_off

step 'windows' 120
run xl pause g1
run xcbatch-check window "$(guest_id)"
grep -q 'driver stock' "$LAB_DIR/run.out" || fail "the library took the stock driver for ours"
run xl unpause g1

step 'check the guest' 60
guest_check
