# Memory that is not given back fails the scenario.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=60 expect="pages free, had"
step 'pretend that more memory was free before' 10
echo $(($(cat "$LAB_DIR/before.free") + 100)) > "$LAB_DIR/before.free"
