# Damaged and foreign streams: each refused in a sentence that names what was found, and no domain is left.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,streamedit timeout=600
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
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8
save g1 /var/lib/xen/g1.save engine=ours

refused 'found marker 0x0123456789abcdef, expected 0xffffffffffffffff' marker
refused 'found version 1, expected 2 or 3' version 1
refused 'found version 4, expected 2 or 3' version 4
refused 'big-endian' big-endian
refused 'expected STATIC_DATA_END first' no-static-end
refused 'found the mandatory type 0x00000077' mandatory
refused 'checkpoint in a plain stream' checkpoint
refused 'found a length of 134217729 bytes, expected at most 134217728' oversize
refused 'found pfn 0xfffffffff (entry 0), expected one below' pfn 0xfffffffff
refused 'found a count of 4294967295 pages' count 0xffffffff
refused 'The stream ends in' cut 0
refused 'The stream ends in' cut-into 0
refused 'The stream ends in' cut 2
refused 'The stream ends in' cut 3
refused 'The stream ends in' cut-into 3
refused 'The stream ends in' cut 20
refused 'The stream ends in' cut-into 20

step 'restore the good one' 120
restore /var/lib/xen/g1.save engine=ours
guest_ticks_advance
guest_check
