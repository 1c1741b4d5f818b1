// SPDX-License-Identifier: GPL-2.0-only
/* /dev/xenferry-floor: see xenferry_floor.h, which is the contract. */
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include <xen/features.h>
#include <xen/xen.h>

#include "floor.h"

static u64 clock_ticks(void)
{
	u64 begin = floor_clock();

	return floor_clock() - begin;
}

static u64 *read_frames(u64 from, u32 nr)
{
	return vmemdup_user(u64_to_user_ptr(from), nr * sizeof(u64));
}

static int run_round(struct file *file, struct xenferry_floor *ask)
{
	struct floor_round round = { .file = file, .ask = ask };
	int rc;

	round.frames = read_frames(ask->frames, ask->num);
	if (IS_ERR(round.frames))
		return PTR_ERR(round.frames);
	if (ask->others) {
		round.others = read_frames(ask->others, ask->num);
		if (IS_ERR(round.others)) {
			rc = PTR_ERR(round.others);
			goto out;
		}
	}
	clock_ticks();
	ask->clock = clock_ticks();
	rc = ask->dom0 == XENFERRY_FLOOR_PV ? floor_pv(&round) : floor_pvh(&round);
	kvfree(round.others);
out:
	kvfree(round.frames);
	return rc;
}

static long floor_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct xenferry_floor ask, answer;
	int rc;

	if (cmd != IOCTL_XENFERRY_FLOOR)
		return -ENOTTY;
	if (copy_from_user(&ask, (void __user *)arg, sizeof(ask)))
		return -EFAULT;
	if (!ask.num || ask.num > XENFERRY_FLOOR_MAX || ask.reserved ||
	    ask.domid > U16_MAX)
		return -EINVAL;

	answer = (struct xenferry_floor) {
		.frames = ask.frames,
		.others = ask.others,
		.num = ask.num,
		.domid = ask.domid,
		.dom0 = xen_feature(XENFEAT_auto_translated_physmap) ?
			XENFERRY_FLOOR_PVH : XENFERRY_FLOOR_PV,
	};
	rc = run_round(file, &answer);
	if (!rc && copy_to_user((void __user *)arg, &answer, sizeof(answer)))
		rc = -EFAULT;
	return rc;
}

/* As the driver's own mappings are, so that the hypervisor does the same work. */
static int floor_mmap(struct file *file, struct vm_area_struct *vma)
{
	const vm_flags_t flags = VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND |
				 VM_DONTDUMP;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
	return 0;
}

static const struct file_operations floor_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = floor_ioctl,
	.mmap = floor_mmap,
};

static struct miscdevice floor_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "xenferry-floor",
	.fops = &floor_fops,
	.mode = 0600,
};

static int __init floor_init(void)
{
	return xen_initial_domain() ? misc_register(&floor_device) : -ENODEV;
}

static void __exit floor_exit(void)
{
	misc_deregister(&floor_device);
}

module_init(floor_init);
module_exit(floor_exit);

MODULE_DESCRIPTION("What mapping another domain's memory costs in bare hypercalls: for benchmarks only");
MODULE_LICENSE("GPL");
