# The module, xenfs and the daemons: brought up, taken down, and changed for others.
# SPDX-License-Identifier: LGPL-2.1-or-later

LAB_KERNEL=$(uname -r)
LAB_XEN_MODULES=/lib/modules/$LAB_KERNEL/kernel/drivers/xen

module_file() { # module_file ours|stock
    case $1 in
    ours) echo "/lib/modules/$LAB_KERNEL/updates/xen-privcmd.ko" ;;
    stock) echo "$LAB_XEN_MODULES/xen-privcmd.ko" ;;
    *) return 1 ;;
    esac
}

load_module() { # load_module ours|stock, and xenfs, which links to it
    insmod "$(module_file "$1")" || return 1
    insmod "$LAB_XEN_MODULES/xenfs/xenfs.ko" || return 1
    mount -t xenfs xenfs /proc/xen
    echo "$1" > /run/lab/module
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

toolstack_start() { # toolstack_start ours|stock
    for LAB_KO in xen-evtchn xen-gntdev xen-gntalloc; do
        insmod "$LAB_XEN_MODULES/$LAB_KO.ko" || return 1
    done
    load_module "$1" && daemons_start
}
