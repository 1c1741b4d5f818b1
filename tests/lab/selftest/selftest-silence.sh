# A Dom0 that says nothing any more is noticed, asked for its state through Xen's console, and left.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=60 expect="no word from selftest-silence"
step 'stop those that talk'
kill -STOP "$(cat /run/lab/beat.pid)" "$PPID"
sleep 1000
