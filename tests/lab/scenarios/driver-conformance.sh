# What each ioctl comes to is the same on our module as on stock's, in a PV Dom0.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock needs=module,privcmd-conform timeout=300
conformance 120
