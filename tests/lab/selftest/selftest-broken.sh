# A scenario the shell cannot read fails.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="the scenario ended early"
step 'try' 10
if then
