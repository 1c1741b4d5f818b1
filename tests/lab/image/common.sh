# Shared by the image scripts: where things are, and how a root is packed.
# SPDX-License-Identifier: LGPL-2.1-or-later
set -euo pipefail
export LC_ALL=C

lab=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
top=$(cd "$lab/../.." && pwd)
out=${LAB_OUT:-$top/build/lab}
mkdir -p "$out/downloads"
multiarch=$(gcc -print-multiarch)

# The modules of a kernel that Dom0 gets.
dom0_modules=(xen-evtchn xen-gntdev xen-gntalloc xen-privcmd xenfs/xenfs)

die() { echo "lab image: $*" >&2; exit 1; }

# The kernel release the lab boots: that of the installed headers, so that the module fits.
kernel_release() {
    local release
    release=$(dpkg-query -W -f '${Depends}' linux-headers-amd64 2>/dev/null |
        sed -n 's/.*linux-headers-\([0-9][^ ,]*\).*/\1/p')
    [ -n "$release" ] || die "linux-headers-amd64 is not installed, and the lab boots the kernel it belongs to; run 'make packages-lab'."
    echo "$release"
}

# Uncompressed, so that the emulated CPU does not spend its time unpacking. Owner and time are fixed for equal bytes.
pack() { # pack DIRECTORY FILE
    (cd "$1" && find . -exec touch -h -d @0 {} + && find . -print0 | sort -z |
        cpio --null -o -H newc --owner 0:0 --reproducible --quiet) > "$2.part"
    mv "$2.part" "$2"
}

# Copies the shared libraries a program needs into a root, where they are missing.
copy_libraries() { # copy_libraries ROOT FILE...
    local root=$1 file library; shift
    for file in "$@"; do
        { ldd "$file" 2>/dev/null || true; } | awk '/=> \//{print $3} /^\t\/lib64/{print $1}' | sort -u |
        while read -r library; do
            [ -e "$root$library" ] || install -D "$(readlink -f "$library")" "$root$library"
        done
    done
}
