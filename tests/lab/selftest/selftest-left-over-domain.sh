# A domain that is left over fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=60 expect="domains are 'Domain-0 stray '"
step 'leave a domain' 50
empty_guest stray
