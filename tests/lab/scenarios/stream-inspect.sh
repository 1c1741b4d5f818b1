# `xenferry inspect` accepts what xl saved with either engine, and refuses it cut, altered or foreign.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv needs=engine,command timeout=300
file=/var/lib/xen/g1.save

refused() { # ... | refused TEXT: the inspection of what comes in ends with status 1 and says TEXT
    xenferry inspect -q - > "$LAB_DIR/refused" 2>&1
    equal 'exit status of the inspection' $? 1
    cat "$LAB_DIR/refused"
    grep -qF "$1" "$LAB_DIR/refused" || fail "the refusal lacks '$1'"
}

step 'start the guest' 90
guest_start type=pvh memory=128 mib=32 dirty=16 rate=8

for engine in stock ours; do
    step "save with $engine" 150
    save g1 "$file" engine=$engine -c
    run xenferry inspect "$file"
    cat "$LAB_DIR/run.out"
    for text in 'pvh guest "g1"' 'x86 HVM guest, saved under Xen 4.17' 'STATIC_DATA_END' 'HVM_CONTEXT' \
                'Nothing wrong was found.'; do
        grep -qF "$text" "$LAB_DIR/run.out" || fail "the inspection of $engine's file lacks '$text'"
    done
done

step 'cut' 150
size=$(stat -c %s "$file")
dd if="$file" bs=65536 count=$((size / 65536 / 2)) 2> /dev/null | refused 'The stream ends in record'
cp "$file" "$file.cut"
truncate -s $((size - 8)) "$file.cut"
cat "$file.cut" | refused 'The file ends in a libxl record'
rm "$file.cut"
refused 'The file ends in its first header' < /dev/null

step 'altered' 60
# The version stands in bytes 12 to 15 of the image header, behind the libxl header and a LIBXC_CONTEXT record.
at=$(xenferry inspect "$file" | awk '$2 == "libxc" && $3 == "Image" {print $1}')
{ head -c $((at + 15)) "$file"; printf '\004'; tail -c +$((at + 17)) "$file"; } 2> /dev/null |
    refused 'found version 4, expected 2 or 3'

step 'foreign' 60
refused 'found a file that starts with 7f 45 4c 46' < /bin/busybox
expect_fail 'No such file or directory' xenferry inspect /nonexistent
