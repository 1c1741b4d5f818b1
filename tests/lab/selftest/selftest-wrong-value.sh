# A wrong value fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="the sum is '4', expected '5'"
step 'count' 10
equal 'the sum' $((2 + 2)) 5
