# A fault line in the kernel log fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="WARNING: CPU: 0 PID: 1 at nowhere"
step 'warn' 10
echo 'WARNING: CPU: 0 PID: 1 at nowhere' > /dev/kmsg
