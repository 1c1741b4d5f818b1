# Log-dirty mode that was left on is noticed.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: timeout=60 expect="log-dirty of still is 'on', expected 'off'"
step 'a paused domain' 50
echo still >> "$LAB_DIR/guests"
empty_guest still
log_dirty_off still
run lab-probe logdirty-enable "$(guest_id still)"
log_dirty_off still
