# A scenario that takes too long is ended.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=2 expect="the scenario took longer than its 2 s"
step 'sleep' 60
sleep 100
