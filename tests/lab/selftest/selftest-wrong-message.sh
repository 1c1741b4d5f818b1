# A command that fails with other words than expected fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="without saying 'no luck', but: bad weather"
step 'try' 10
expect_fail 'no luck' sh -c 'echo bad weather; exit 1'
