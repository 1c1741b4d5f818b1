# Each allocation and each hypercall of the mapping paths fails once: errors are said, pages are right, nothing is lost.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pvh module=stock needs=module-inject,privcmd-inject timeout=660
error_injection 500
step 'a page that its frame may be behind is not given to anyone'
[ "$(dmesg | grep -c 'pages are lost')" -gt 0 ] || fail 'the log tells of no page that was kept back, expected some'
