# A scenario whose watcher does not watch is ended from outside.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=10 expect="selftest-never-ends did not end within its 10 s"
step 'stop the one that watches'
kill -STOP "$PPID"
sleep 1000
