# Mapping and unmapping gigabytes by few calls keeps no processor for long.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=ours needs=module,privcmd-window timeout=300
step 'a guest to map' 90
paused_guest
[ ! -e /proc/sys/kernel/watchdog_thresh ] || echo 5 > /proc/sys/kernel/watchdog_thresh

step 'map and unmap 4 GiB' 200
run privcmd-window "$(guest_id)" 'l*'
[ ! -e /proc/sys/kernel/watchdog_thresh ] || echo 10 > /proc/sys/kernel/watchdog_thresh
