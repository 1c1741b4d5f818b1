# A command that fails fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=30 expect="ended with exit status 3: no luck"
step 'try' 10
run sh -c 'echo no luck; exit 3'
