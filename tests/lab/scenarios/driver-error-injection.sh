# Each allocation and each hypercall of the mapping paths fails once: errors are said, pages are right, nothing is lost.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock needs=module-inject,privcmd-inject timeout=400
error_injection 240
