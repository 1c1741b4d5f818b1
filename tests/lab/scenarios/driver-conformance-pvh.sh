# What each ioctl comes to is the same on our module as on stock's, in a PVH Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=stock needs=module,privcmd-conform timeout=900
conformance 400
