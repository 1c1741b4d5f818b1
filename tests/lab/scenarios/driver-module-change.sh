# The module can be changed for the other and back, with the daemons restarted around it, and guests still work.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=stock needs=module timeout=240
step 'ours in place of stock' 60
use_module ours
grep -q '^xen_privcmd' /proc/modules || fail 'no xen_privcmd is loaded'

step 'a guest under ours' 90
guest_start mib=16 dirty=4 rate=8
guest_check
guest_destroy

step 'stock in place of ours' 60
use_module stock

step 'a guest under stock' 90
guest_start mib=16 dirty=4 rate=8
guest_check
guest_destroy
