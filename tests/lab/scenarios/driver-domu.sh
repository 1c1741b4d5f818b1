# In an unprivileged guest the module lets nobody at the hypervisor: only at the guest's xenstore target, if it has one.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock needs=module,privcmd-restricted timeout=300
guest_root=$LAB_DIR/root

# The guest loads each module in turn and shows what is allowed.
make_guest() {
    mkdir -p "$guest_root/proc" "$guest_root/sys" "$guest_root/dev" "$guest_root/bin"
    cp /bin/busybox "$guest_root/bin/"
    cp "$(command -v privcmd-restricted)" "$guest_root/bin/"
    cp "$(module_file stock)" "$guest_root/stock.ko"
    cp "$(module_file ours)" "$guest_root/ours.ko"
    cat > "$guest_root/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev
target=$($b sed -n 's/.*xf_target=\([0-9]*\).*/\1/p' /proc/cmdline)
for module in stock ours; do
    $b insmod /$module.ko && /bin/privcmd-restricted "$module:" $target
    $b rmmod xen_privcmd || echo "$module: not unloaded"
    $b insmod /$module.ko unrestricted=1 && /bin/privcmd-restricted "$module unrestricted:" $target
    $b rmmod xen_privcmd || echo "$module: not unloaded"
done
echo domu done
while true; do $b sleep 100; done
INIT
    chmod +x "$guest_root/init"
    (cd "$guest_root" && find . | cpio -o -H newc 2>/dev/null) > "$LAB_DIR/domu.cpio"
}

# run_guest NAME [TARGET]: leaves what it said in NAME.lines
run_guest() {
    local name=$1 target=${2:-}
    printf 'name = "%s"\ntype = "pvh"\nkernel = "/boot/vmlinux"\nramdisk = "%s"\nmemory = 128\ntsc_mode = "native"\n' \
        "$name" "$LAB_DIR/domu.cpio" > "/etc/xen/$name.cfg"
    printf 'cpus = "%s"\ncmdline = "console=hvc0 quiet %s"\n' "$LAB_GUEST_CPUS" "${target:+xf_target=$target}" \
        >> "/etc/xen/$name.cfg"
    echo "$name" >> "$LAB_DIR/guests"
    run xl create -p "/etc/xen/$name.cfg"
    [ -z "$target" ] || run xenstore-write "/local/domain/$(guest_id "$name")/target" "$target"
    run xl unpause "$name"
    wait_until 90 "guest $name has tried" guest_said "$name" 'domu done'
    cat $(guest_logs "$name") | tr -d '\r' > "$LAB_DIR/$name.lines"
    grep -e ': ' "$LAB_DIR/$name.lines"
    guest_destroy "$name"
}

# same_as_stock NAME: ours says what stock says, line for line.
same_as_stock() {
    sed -n 's/^stock//p' "$LAB_DIR/$1.lines" > "$LAB_DIR/said.stock"
    sed -n 's/^ours//p' "$LAB_DIR/$1.lines" | grep -v ' xenferry ' > "$LAB_DIR/said.ours"
    [ -s "$LAB_DIR/said.ours" ] || fail "the guest $1 said nothing of our module"
    diff "$LAB_DIR/said.stock" "$LAB_DIR/said.ours" || fail 'our module allows something else than stock does'
}
says() { grep -qxF -- "$2" "$LAB_DIR/$1.lines" || fail "the guest $1 did not say '$2'"; }

step 'a guest without target' 150
make_guest
run_guest d1
same_as_stock d1
for what in hypercall 'map of domain 0' 'map of itself' 'dm_op on domain 0' 'resource of domain 0' 'xenferry map of domain 0'; do
    says d1 "ours: $what = EPERM"
done
says d1 'ours: restriction to another = EINVAL'
says d1 'ours unrestricted: hypercall = allowed'
says d1 'ours unrestricted: map of domain 0: the hypervisor says EPERM'

step 'a guest with target 9' 150
run_guest d2 9
same_as_stock d2
says d2 'ours: hypercall = EPERM'
says d2 'ours: map of domain 0 = EPERM'
says d2 'ours: map of the target = allowed'
says d2 'ours: restriction to the target = allowed'

step 'Dom0 goes on'
run xl info
