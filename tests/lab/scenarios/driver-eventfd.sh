# IRQFD and IOEVENTFD check their arguments, and an eventfd carries out its operation until it is taken back or closed.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: dom0=pv module=stock kernel=6.12 needs=module-inject,privcmd-conform timeout=240
# Debian's own module refuses these calls; the test build of ours has them all the same.
step 'a guest to name' 90
use_module inject
paused_guest
step 'the calls'
for pattern in 'irqfd-*' 'ioeventfd-*' 'later-*'; do
    run privcmd-conform "$(guest_id)" "$pattern"
    grep -e '^irqfd-.*: ' -e '^ioeventfd-.*: ' -e '^later-.*: ' "$LAB_DIR/run.out" >> "$LAB_DIR/said"
done
diff - "$LAB_DIR/said" <<'EXPECTED' || fail 'the calls say something else (-: expected, +: seen)'
irqfd-args: structure unreadable = -1 EFAULT
irqfd-args: unknown flag = -1 EINVAL
irqfd-args: deassign what is none's = 0
irqfd-args: deassign no eventfd = -1 EINVAL
irqfd-args: no eventfd = -1 EINVAL
irqfd-args: no descriptor = -1 EBADF
irqfd-args: operation unreadable = -1 EFAULT
irqfd-use: assign = 0
irqfd-use: assign again = -1 EBUSY
irqfd-use: deassign = 0
irqfd-use: assign anew = 0
ioeventfd-args: structure unreadable = -1 EFAULT
ioeventfd-args: unknown flag = -1 EINVAL
ioeventfd-args: deassign what is none's = -1 ENODEV
ioeventfd-args: odd length = -1 EINVAL
ioeventfd-args: past the end = -1 EINVAL
ioeventfd-args: no vCPU = -1 EINVAL
ioeventfd-args: too many vCPUs = -1 EINVAL
ioeventfd-args: no eventfd = -1 EINVAL
ioeventfd-memory: no memory = -1 EFAULT
ioeventfd-memory: other memory = -1 EINVAL
ioeventfd-memory: nothing mapped = -1 EINVAL
later-restricted: irqfd E = -1 EPERM
later-restricted: ioeventfd E = -1 EPERM
later-restricted: gsi = -1 EOPNOTSUPP
EXPECTED
dmesg | grep -q 'could not raise the interrupt of an eventfd' || fail 'the operation was not carried out'
step 'nothing holds the module'
guest_destroy
wait_until 30 'the guest is gone' no_guests
use_module stock
