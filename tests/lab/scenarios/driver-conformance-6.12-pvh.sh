# What each ioctl comes to is the same on our module as on stock's, in a PVH Dom0 with Linux 6.12.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh kernel=6.12 module=stock needs=module,privcmd-conform timeout=900
conformance 400
