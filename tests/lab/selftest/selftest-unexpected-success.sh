# A command that had to fail and did not fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="succeeded, but had to fail"
step 'try' 10
expect_fail 'no luck' true
