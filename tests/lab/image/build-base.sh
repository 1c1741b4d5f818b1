#!/bin/bash
# Builds what seldom changes: hypervisor, Dom0 kernel, guest kernel, the base layer of Dom0's initramfs and the layer
# with python3 for verify-stream-v2. Everything is kept under build/lab/base-KEY; prints that directory.
# SPDX-License-Identifier: LGPL-2.1-or-later
. "$(dirname "$0")/common.sh"

xen=/usr/lib/xen-4.17
release=$(kernel_release)
# What goes in: the packages by version, and the scripts that put them together.
key=$({ dpkg-query -W -f '${Package} ${Version}\n' xen-hypervisor-4.17-amd64 xen-utils-4.17 xen-utils-common \
            xenstore-utils libxenmisc4.17 busybox-static libc6 libgcc-s1 libjson-c5 python3-minimal 2>/dev/null
        echo "$release"
        cat "$lab/image/common.sh" "$lab/image/build-base.sh"; } | sha256sum | cut -c1-16)
base=$out/base-$key
if [ -e "$base/complete" ]; then echo "$base"; exit 0; fi

say() { echo "lab image: $*" >&2; }
work=$out/base-$key.work
rm -rf "$work"; mkdir -p "$work"
say "building the base image $key (kernel $release)"

# A kernel package to unpack: never installed, so that this machine keeps the boot loader it has.
fetch_kernel() {
    local package="linux-image-$release"
    deb=$(find "$out/downloads" -name "${package}_*.deb" | sort | tail -1)
    [ -n "$deb" ] && return
    say "downloading $package"
    (cd "$out/downloads" && { apt-get download -q "$package" >&2 ||
        { apt-get update -q >&2 && apt-get download -q "$package" >&2; } }) 2>&1 | grep -v unsandboxed >&2 || true
    deb=$(find "$out/downloads" -name "${package}_*.deb" | sort | tail -1)
    [ -n "$deb" ] || die "could not download $package, the kernel of the installed headers; 'apt-get update && apt-get install linux-headers-amd64' brings both to the same release."
}

kernels() {
    dpkg -x "$deb" "$work/kernel"
    cp "$work/kernel/boot/vmlinuz-$release" "$work/vmlinuz"
    gunzip -c /boot/xen-4.17-amd64.gz > "$work/xen.elf"
    # The guest boots the kernel uncompressed: the domain builder would spend 9 s unpacking it.
    /usr/bin/python3 - "$work" <<'P'
import lzma, sys
data = open(sys.argv[1] + "/vmlinuz", "rb").read()
start = data.index(b"\xfd7zXZ\0")
open(sys.argv[1] + "/vmlinux", "wb").write(lzma.LZMADecompressor().decompress(data[start:]))
P
    strip -s "$work/vmlinux"
}

dom0_root() {
    local root=$work/dom0 applet f module
    mkdir -p "$root"/{bin,sbin,proc,sys,dev,run,tmp,etc/xen/auto,root,boot,var/log/xen/console,var/lib/xen,var/lib/xenstored}
    mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib64" "$root/usr/lib/$multiarch" "$root$xen"
    ln -s usr/lib "$root/lib"; ln -s usr/lib64 "$root/lib64"; ln -s /run "$root/var/run"; ln -s /run "$root/var/lock"
    cp /bin/busybox "$root/bin/"
    for applet in $(/bin/busybox --list | grep -vx busybox); do ln -s busybox "$root/bin/$applet"; done
    cp -a "$xen/bin" "$root$xen/"
    for f in /usr/bin/xenstore*; do cp -L "$f" "$root/usr/bin/"; done
    for f in "$xen"/bin/*; do ln -sf "$f" "$root/usr/sbin/${f##*/}"; done
    for f in "/usr/lib/$multiarch"/libxen*.so.*; do cp -a "$f" "$root/usr/lib/$multiarch/"; done
    copy_libraries "$root" "$xen"/bin/* "/usr/lib/$multiarch"/libxen*.so.*
    # xl ends its threads with pthread_cancel, which loads this one by name. Ours needs libjson-c.
    cp -L "/lib/$multiarch/libgcc_s.so.1" "/lib/$multiarch/libjson-c.so.5" "$root/usr/lib/$multiarch/"
    for module in "${dom0_modules[@]}"; do
        install -D -m644 "$work/kernel/lib/modules/$release/kernel/drivers/xen/$module.ko" \
            "$root/lib/modules/$release/kernel/drivers/xen/$module.ko"
    done
    cp "$work/vmlinux" "$root/boot/"
    : > "$root/etc/xen/xl.conf"
    echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
    echo 'root:x:0:' > "$root/etc/group"
    pack "$root" "$work/dom0.cpio"
}

# python3 with the modules verify-stream-v2 really loads: asked of python itself.
verify_root() {
    local root=$work/verify list=$work/python.list
    PYTHONPATH=$xen/lib/python /usr/bin/python3 - "$xen/bin/verify-stream-v2" > "$list" <<'P'
import sys
sys.argv = [sys.argv[1], "--help"]
import importlib.machinery, importlib.util
loader = importlib.machinery.SourceFileLoader("verify", sys.argv[0])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("verify", loader))
loader.exec_module(module)
import codecs, encodings.ascii, encodings.latin_1, encodings.utf_8, optparse, runpy, traceback
for m in list(sys.modules.values()):
    f = getattr(m, "__file__", None)
    if f and f.startswith("/usr/lib"):
        print(f)
P
    mkdir -p "$root"/usr/{bin,lib,lib64}
    ln -s usr/lib "$root/lib"; ln -s usr/lib64 "$root/lib64"    # as in the base: a folder would hide its modules
    cp -L /usr/bin/python3 "$root/usr/bin/python3"
    mkdir -p "$root/usr/lib/python3.11/lib-dynload"     # python complains where it is missing
    printf '#!/bin/sh\nPYTHONPATH=%s exec %s "$@"\n' "$xen/lib/python" "$xen/bin/verify-stream-v2" \
        > "$root/usr/bin/verify-stream-v2"
    chmod 755 "$root/usr/bin/verify-stream-v2"
    while read -r f; do install -D -m644 "$f" "$root$f"; done < "$list"
    copy_libraries "$root" /usr/bin/python3 $(grep '\.so$' "$list" || true)
    pack "$root" "$work/verify.cpio"
}

fetch_kernel
kernels
dom0_root
verify_root
echo "$release" > "$work/release"
dpkg-query -W -f '${Version}\n' xen-hypervisor-4.17-amd64 > "$work/xen-version"
rm -rf "$work/kernel" "$work/dom0" "$work/verify" "$work/python.list" "$work/vmlinux"
touch "$work/complete"
rm -rf "$base"; mv "$work" "$base"
find "$out" -maxdepth 1 -name 'base-*' ! -path "$base" -exec rm -rf {} +
du -h "$base"/*.cpio | sed 's/^/lab image: /' >&2
echo "$base"
