#!/bin/bash
# Builds what Dom0 needs to run another kernel than that of the base: build-kernel.sh KERNEL (6.12). The kernel and a
# layer with its Xen modules are kept under build/lab/kernel-RELEASE-KEY; prints that directory.
# SPDX-License-Identifier: LGPL-2.1-or-later
. "$(dirname "$0")/common.sh"

image=$(XENFERRY_BUILD=$(dirname "$out") "$top/packaging/kernel-tree" --image "$1")
release=$(basename "$image" -image)
key=$({ sha256sum < "$image/boot/vmlinuz-$release"; cat "$lab/image/common.sh" "$lab/image/build-kernel.sh"; } |
    sha256sum | cut -c1-16)
layer=$out/kernel-$release-$key
if [ -e "$layer/complete" ]; then echo "$layer"; exit 0; fi

work=$layer.work root=$layer.work/root
rm -rf "$work"; mkdir -p "$root"
echo "lab image: building the layer of kernel $release" >&2
cp "$image/boot/vmlinuz-$release" "$work/vmlinuz"
# Unpacked, so that Dom0 needs no more than insmod. In usr/lib: the base has lib as a link to it.
from=$image/lib/modules/$release/kernel/drivers/xen
[ -d "$from" ] || from=$image/usr/lib/modules/$release/kernel/drivers/xen
for module in "${dom0_modules[@]}"; do
    to=$root/usr/lib/modules/$release/kernel/drivers/xen/$module.ko
    mkdir -p "$(dirname "$to")"
    if [ -e "$from/$module.ko.xz" ]; then xz -dc "$from/$module.ko.xz" > "$to"
    else cp "$from/$module.ko" "$to"; fi
done
pack "$root" "$work/modules.cpio"
echo "$release" > "$work/release"
rm -rf "$root"
touch "$work/complete"
rm -rf "$layer"; mv "$work" "$layer"
echo "$layer"
