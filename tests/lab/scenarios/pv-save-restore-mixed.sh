# PV guests of both sizes, with one and two vCPUs, and page tables that come and go: what our engine saves,
# verify-stream-v2 accepts, our inspect accepts, ours restores and stock restores; and ours restores what stock saved.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine,command,verify timeout=900
# saved SAVER RESTORER: there and back, and the guest is as it was
saved() {
    step "save with $1" 120
    save g1 /var/lib/xen/g1.save "engine=$1"
    if [ "$1" = ours ]; then
        step 'let others check the file' 180
        [ "$memory" = 512 ] || run verify-stream-v2 -f xl -i /var/lib/xen/g1.save
        run xenferry inspect /var/lib/xen/g1.save
    fi
    step "restore with $2" 120
    restore /var/lib/xen/g1.save "engine=$2"
    [ "$2" = stock ] || equal 'the engine that restored' "$(stat_of end restore engine)" ours
    guest_ticks_advance
    guest_churn_advances
    guest_check
}

for memory in 128 512; do
    vcpus=$((memory == 128 ? 1 : 2))
    step "start a guest of $memory MiB" 90
    guest_start type=pv memory=$memory vcpus=$vcpus mib=40 dirty=16 rate=8 churn=yes
    guest_churn_advances
    saved ours ours
    saved ours stock
    saved stock ours
    guest_destroy g1
done
