# A stream of version 2, as Xen 4.13 and older wrote it, is read (CPUID and MSRs are the toolstack's to make up for); an
# unknown optional record is ignored.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,streamedit timeout=400
edited() { # edited OPERATION: saves g1, and leaves what is to be restored in edited.save
    save g1 /var/lib/xen/g1.save engine=ours
    run sh -c "streamedit $1 < /var/lib/xen/g1.save > /var/lib/xen/edited.save"
    rm /var/lib/xen/g1.save
}

step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8

step 'an optional record' 120
edited optional
restore /var/lib/xen/edited.save engine=ours
guest_ticks_advance
guest_check

step 'version 2' 120
edited v2
restore /var/lib/xen/edited.save engine=ours
grep -q 'version 2' "$LAB_DIR/run.out" || fail "version 2 is not named: $(cat "$LAB_DIR/run.out")"

step 'check the guest' 90
guest_ticks_advance
guest_check
