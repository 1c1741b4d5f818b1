# A PV guest that makes and frees page tables without pause migrates live from our engine to a stock receiver, five times
# in a row, and once more with 512 MiB and two vCPUs.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=900
# sent TIMES: and checked each time
sent() {
    for i in $(seq "$1"); do
        guest_gap_reset
        step "migrate, $i" 300
        migrate g1 from=ours to=stock
        equal 'the tracker' "$(stat_of end save tracker)" content
        step "check the guest, $i" 90
        guest_ticks_advance
        guest_churn_advances
        guest_pause
        guest_check
    done
}

step 'start a guest of 128 MiB' 90
guest_start type=pv memory=128 mib=32 dirty=16 rate=8 churn=yes
sent 5
guest_destroy g1
step 'start a guest of 512 MiB' 90
guest_start type=pv memory=512 vcpus=2 mib=64 dirty=16 rate=8 churn=yes
sent 1
