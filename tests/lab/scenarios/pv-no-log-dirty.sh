# This Xen has no log-dirty for PV guests: libxcbatch says so, and xenferry dirty-rate, in a sentence.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock needs=xcbatch-check,command timeout=200
step 'start the guest' 90
guest_start type=pv memory=128 mib=16 dirty=0 rate=0

step 'ask for log-dirty' 30
run xcbatch-check nodirty "$(guest_id)"
expect_fail 'to be a PV guest, whose writes this Xen' xenferry dirty-rate -s 1 g1
equal 'the exit status' "$LAB_STATUS" 3
