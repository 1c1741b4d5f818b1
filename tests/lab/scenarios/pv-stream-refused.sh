# Streams of a PV guest with one thing wrong, into a real domain: each refused in a sentence, and no domain is left.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,streamedit timeout=600
mkfifo /var/lib/xen/bad.save
# refused 'WHAT IT SAYS' OPERATION [ARGUMENT]
refused() {
    local says=$1; shift
    step "restore a stream edited by: $*" 60
    streamedit "$@" < /var/lib/xen/g1.save > /var/lib/xen/bad.save &
    expect_fail "$says" with_engine ours within 50 xl restore /var/lib/xen/bad.save
    wait $!
    ! guest_id g1 > /dev/null || fail "a domain is left of the stream edited by $*"
}

step 'save a guest' 120
guest_start type=pv memory=128 vcpus=2 mib=32 dirty=16 rate=8
save g1 /var/lib/xen/g1.save engine=ours

refused 'before any X86_PV_INFO' drop 2
refused 'before any X86_PV_P2M_FRAMES' drop 3
refused 'without the registers of vCPU 0' drop 4
refused 'without SHARED_INFO' drop 7
refused 'vCPU 7, expected ids below 2' vcpu-id 7
refused 'vCPU 1 a second time' vcpu-id 1
refused 'expected a pfn that the stream gave memory' table-pfn 0xfffff
refused 'found pfn 0xfffffffff (entry 0), expected one below' pfn 0xfffffffff

step 'restore the good one' 120
restore /var/lib/xen/g1.save engine=ours
guest_ticks_advance
guest_check
