# What each ioctl comes to is the same on our module as on stock's, in a PVH Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=stock needs=module,privcmd-conform timeout=900
step 'stock' 400
conform stock
step 'ours' 400
conform ours
step 'compare'
# Where stock stops the kernel, warns, or frees pages twice, this is what has to happen.
conform_compare <<'EXCEPTIONS'
dm-op-empty: an empty buffer = -1 EFAULT
dm-op-empty: an empty one at the end = -1 EOPNOTSUPP
resource-twice: map = 0
resource-twice: map again = -1 EINVAL
resource-twice: signal: 0
resource-twice: munmap = 0
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
move-mixed: fill = -1 EINVAL
move-mixed: errors: 0*1
move-mixed: move = 0
move-mixed: the guest's: ok*1
move-mixed: the guest's: ok*1
move-mixed: signal at the display's: 0
move-mixed: the same content: 1
move-mixed: signal at the hole: 0
move-mixed: munmap = 0
buffers-huge: 16 TiB = -1 ENOMEM
EXCEPTIONS
