# A scenario that leaves xenstored dead is told so, and holds up nothing.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=60 expect="xenstored or xenconsoled does not run afterwards"
step 'end the daemons'
kill -KILL $(pidof xenconsoled xenstored)
