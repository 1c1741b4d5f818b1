# A process of the toolstack that is left over fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=60 expect="a process is left over"
step 'leave a process' 10
printf '#!/bin/sh\nsleep 1000\n' > "$LAB_DIR/xenferry"
chmod +x "$LAB_DIR/xenferry"
setsid "$LAB_DIR/xenferry" > /dev/null 2>&1 &
sleep 1
