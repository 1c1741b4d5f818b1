# The module, xenfs and the daemons: brought up, taken down, and changed for others.
# SPDX-License-Identifier: LGPL-2.1-or-later

LAB_KERNEL=$(uname -r)
LAB_XEN_MODULES=/lib/modules/$LAB_KERNEL/kernel/drivers/xen

# Without xenstored xl asks in vain, and for ever.
xl() {
    case $1 in
    list|domid|dmesg) within 30 xl "$@" ;;
    *) command xl "$@" ;;
    esac
}

module_file() { # module_file ours|stock|inject
    case $1 in
    ours) echo "/lib/modules/$LAB_KERNEL/updates/xen-privcmd.ko" ;;
    inject) echo "/lib/modules/$LAB_KERNEL/inject/xen-privcmd.ko" ;;
    stock) echo "$LAB_XEN_MODULES/xen-privcmd.ko" ;;
    *) return 1 ;;
    esac
}

load_module() { # load_module ours|stock [PARAMETER=VALUE...], and xenfs, which links to it
    local module=$1; shift
    insmod "$(module_file "$module")" "$@" || return 1
    insmod "$LAB_XEN_MODULES/xenfs/xenfs.ko" || return 1
    mount -t xenfs xenfs /proc/xen
    echo "$module${*:+ $*}" > /run/lab/module
}

daemons_start() {
    xenstored --pid-file /run/xenstored.pid || return 1
    for LAB_TRY in $(seq 100); do
        timeout 1 xenstore-exists /tool >/dev/null 2>&1 && break
        usleep 100000
    done
    xen-init-dom0 || return 1
    xenconsoled --pid-file=/run/xenconsoled.pid --log=guest --log-dir=/var/log/xen/console
}

daemons_run() { pidof xenstored > /dev/null && pidof xenconsoled > /dev/null; }

toolstack_start() { # toolstack_start ours|stock
    for LAB_KO in xen-evtchn xen-gntdev xen-gntalloc; do
        insmod "$LAB_XEN_MODULES/$LAB_KO.ko" || return 1
    done
    load_module "$1" && daemons_start
}

daemons_gone() { ! pidof xenconsoled xenstored > /dev/null; }

# module_free: nothing uses the module any more.
module_free() {
    kill "$(cat /run/xenconsoled.pid)" "$(cat /run/xenstored.pid)"
    wait_until 30 'xenstored and xenconsoled end' daemons_gone
    run umount /proc/xen
    run rmmod xenfs
}

# use_module ours|stock [PARAMETER=VALUE...]: changes the module within a boot, the guests being gone. The daemons hold
# the devices open and xenfs links to the module, so all of them go and come again. Xenstore starts empty.
use_module() {
    [ "$(cat /run/lab/module)" != "$*" ] || return 0
    [ "$(xl list | wc -l)" = 2 ] || fail "the module cannot be changed while there are guests"
    module_free
    run rmmod xen_privcmd
    load_module "$@" || fail "the module '$*' does not load: $(dmesg | tail -1)"
    daemons_start || fail "the daemons do not start again"
}
