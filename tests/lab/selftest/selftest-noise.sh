# Noise on the channel is told from frames.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="frames in disorder, but the verdict came"
step 'make noise' 10
printf 'verdict selftest-noise 4 00000000\npass\n\001verdict selftest-noise 4 00000000\npass\n' > /dev/ttyS1
fail 'frames in disorder, but the verdict came'
