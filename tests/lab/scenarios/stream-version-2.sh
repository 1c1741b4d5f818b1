# A stream of version 2, as Xen 4.13 and older wrote it: CPUID and MSRs are the toolstack's to make up for.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,streamedit timeout=300
step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
save g1 /var/lib/xen/new.save engine=ours
run sh -c 'streamedit v2 < /var/lib/xen/new.save > /var/lib/xen/old.save'
rm /var/lib/xen/new.save

step 'restore' 120
restore /var/lib/xen/old.save engine=ours
grep -q 'version 2' "$LAB_DIR/run.out" || fail "version 2 is not named: $(cat "$LAB_DIR/run.out")"

step 'check the guest' 90
guest_ticks_advance
guest_check
