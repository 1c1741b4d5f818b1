# xl migrate --debug sends all memory once more at the end and the receiver compares: nothing differs. Of a guest that is
# tracked by content, whose every page rests on its hash. (stream-verify-altered has one tracked by log-dirty.)
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
step 'start the guest' 90
guest_start type=pvh memory=128 mib=40 dirty=24 rate=8

export XENFERRY_TRACKER=content
step 'migrate with a verify pass' 240
MIGRATE_SECONDS=230
migrate g1 from=ours to=ours --debug
if grep -i 'verif' "$LAB_DIR/migrate.out" | grep -qi 'differ\|fail\|mismatch'; then
    fail "the verify pass complains: $(grep -i verif "$LAB_DIR/migrate.out" | head -1)"
fi
equal 'the tracker' "$(stat_of end save tracker)" content
equal 'the number of pages put right' "$(stat_of end restore put_right)" 0

step 'check the guest' 90
guest_ticks_advance
guest_check
