# The module can't be unloaded while it is in use; else it can, and loaded again, and again.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=ours needs=module,privcmd-hold timeout=240
holding() { grep -qx holding "$LAB_DIR/hold.out"; }
hold() { # hold WHAT...: sets holder
    : > "$LAB_DIR/hold.out"
    privcmd-hold "$@" > "$LAB_DIR/hold.out" 2>&1 &
    holder=$!
    wait_until 20 "privcmd-hold $*" holding
}
refused() { # the module stays while that is held
    expect_fail 'Resource temporarily unavailable' rmmod xen_privcmd
    kill -KILL $holder
    wait $holder
}

step 'nothing else uses it' 60
use_module stock
use_module ours
module_free

step 'a descriptor is open'
hold open
refused
step 'frames are mapped, no descriptor open'
hold map 0 1
refused

step 'load and unload'
for try in 1 2 3; do
    run rmmod xen_privcmd
    [ ! -e /dev/xen/privcmd ] && [ ! -e /dev/xen/hypercall ] || fail 'the devices are still there'
    run insmod "$(module_file ours)"
    [ -c /dev/xen/privcmd ] && [ -c /dev/xen/hypercall ] || fail 'the devices are not there'
    hold map 0 1
    refused
done
equal 'the version of the loaded module' "$(cat /sys/module/xen_privcmd/version)" \
    "$(modinfo -F version "$(module_file ours)" 2>/dev/null || cat /sys/module/xen_privcmd/version)"

step 'the toolstack again' 60
run insmod "$LAB_XEN_MODULES/xenfs/xenfs.ko"
mount -t xenfs xenfs /proc/xen
daemons_start || fail 'the daemons do not start again'
paused_guest
guest_destroy
