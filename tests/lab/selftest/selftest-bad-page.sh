# A page that was altered in the guest is found by its self-check.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=120 expect="the self-check of g1 found bad pages"
step 'start the guest' 60
guest_start mib=16 dirty=4 rate=8
guest_check
step 'alter a page' 60
guest_corrupt
guest_check
