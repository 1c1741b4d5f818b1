# A PVH guest under load migrates with our engine over our module on Linux 6.12.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock kernel=6.12 needs=module,engine timeout=300
step 'start the guest' 90
use_module ours
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8
step 'migrate' 180
migrate g1 from=ours to=ours
step 'check the guest' 90
guest_ticks_advance
guest_check
