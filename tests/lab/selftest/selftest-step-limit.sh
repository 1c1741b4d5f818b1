# A step that takes too long is ended, with all it started.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="the step took longer than its 2 s"
step 'sleep' 2
sleep 100 &
sleep 100
