# What each ioctl comes to is the same on our module as on stock's, in a PVH Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=stock needs=module,privcmd-conform timeout=600
step 'stock' 240
conform stock
step 'ours' 240
conform ours
step 'compare'
# Where stock stops the kernel, warns, or frees pages twice, this is what has to happen.
conform_compare <<'EXCEPTIONS'
EXCEPTIONS
