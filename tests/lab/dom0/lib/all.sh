# Everything a scenario can call, in one go.
# SPDX-License-Identifier: LGPL-2.1-or-later
for LAB_PART in report toolstack guest driver conformance migrate checks scenario; do
    . "/lab/lib/$LAB_PART.sh"
done
