# What each ioctl comes to is the same on our module as on stock's, in a PV Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock needs=module,privcmd-conform timeout=300
step 'stock' 120
conform stock
step 'ours' 120
conform ours
step 'compare'
# Where stock stops the kernel, warns, loses frames or goes on for ever, this is what has to happen.
conform_compare <<'EXCEPTIONS'
runs-other-vma: over anonymous memory = -1 EINVAL
dm-op-empty: an empty buffer = -1 EFAULT
dm-op-empty: an empty one at the end = -1 EOPNOTSUPP
resource-outside: before = -1 EINVAL
resource-outside: past the end = -1 EINVAL
move-small: map = 0
move-small: move = 0
move-small: the old place: segv*16
move-small: the new place: ok*8
move-small: the new place: ok*6
move-small: populated = -1 EINVAL
move-small: move back = 0
move-small: the old place: ok*8
move-small: the new place: segv*1
move-small: munmap = 0
move-large: map = 0
move-large: move = 0
move-large: the new place: ok*1536
move-large: the old place: segv*1
move-large: move elsewhere = 0
move-large: the new place: ok*1536
move-large: munmap = 0
move-mixed: fill = 0
move-mixed: errors: 0*1
move-mixed: move = 0
move-mixed: the guest's: ok*1
move-mixed: the guest's: ok*1
move-mixed: signal at the display's: 0
move-mixed: the same content: 1
move-mixed: signal at the hole: 7
move-mixed: munmap = 0
protect-whole: the same = 0
protect-whole: pages: ok*16
protect-whole: writable = -1 EACCES
protect-whole: pages: ok*16
protect-whole: signal at writing: 11
protect-whole: none = -1 EACCES
protect-whole: signal at reading: 0
protect-whole: read-only = 0
protect-whole: signal at writing: 11
protect-whole: pages: ok*16
protect-whole: munmap = 0
protect-whole: afterwards: segv*1
buffers-huge: 16 TiB = -1 ENOMEM
EXCEPTIONS
