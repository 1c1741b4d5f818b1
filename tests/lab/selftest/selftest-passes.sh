# The plainest scenario passes, with its figure.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30
step 'count' 10
figure answer 42 pages
equal 'the sum' $((20 + 22)) 42
