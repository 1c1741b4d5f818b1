# xl migrate --debug with one page altered on its way, but not in the verify pass: exactly that pfn is reported, and put right.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,streamedit timeout=300
step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8

step 'migrate with a verify pass' 240
{
    echo '#!/bin/sh'
    echo 'shift'
    echo '. /lab/lib/migrate.sh'
    echo "STATS=$STATS"
    echo 'streamedit copied-pfn 0x1234 | with_engine ours "$@"'
} > "$LAB_DIR/altering-shell"
chmod +x "$LAB_DIR/altering-shell"
: > "$STATS"
run with_engine ours within 230 xl migrate --debug -s "$LAB_DIR/altering-shell" g1 localhost
equal 'the number of pages reported' "$(grep -c 'verify pfn' "$LAB_DIR/run.out")" 1
grep -q 'verify pfn 0x1234 failed' "$LAB_DIR/run.out" || fail "another page is reported: $(grep 'verify pfn' "$LAB_DIR/run.out")"
equal 'the number of pages put right' "$(stat_of end restore put_right)" 1

step 'check the guest' 90
guest_ticks_advance
guest_check
