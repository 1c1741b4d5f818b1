# `xenferry inspect` accepts what stock saved of a PV guest.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=command timeout=240
step 'start the guest' 90
guest_start type=pv memory=128 mib=32 dirty=16 rate=8

step 'save' 120
save g1 /var/lib/xen/g1.save engine=stock

step 'inspect' 90
run xenferry inspect /var/lib/xen/g1.save
for text in 'pv guest "g1"' 'x86 PV guest, saved under Xen 4.17' '64-bit guest, 4 levels of page tables' \
            'X86_PV_P2M_FRAMES' 'X86_PV_VCPU_BASIC' 'SHARED_INFO' 'L4TAB' 'Nothing wrong was found.'; do
    grep -qF "$text" "$LAB_DIR/run.out" || fail "the inspection lacks '$text'"
done
