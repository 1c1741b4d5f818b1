# The module can be changed for the other and back, with the daemons restarted around it, and guests still work.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=module timeout=240
for module in stock ours; do
    step "the $module module in place of the other" 60
    use_module $module
    grep -q '^xen_privcmd' /proc/modules || fail 'no xen_privcmd is loaded'

    step "a guest under the $module module" 90
    guest_start mib=16 dirty=4 rate=8
    guest_check
    guest_destroy
    wait_until 20 'the guest is gone' nothing_runs
done
