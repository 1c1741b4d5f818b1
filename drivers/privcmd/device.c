// SPDX-License-Identifier: GPL-2.0-only
/* /dev/xen/privcmd: the file, and which ioctl goes where. */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <xen/privcmd.h>
#include <xen/xenferry_inject.h>
#include <xen/xenferry_privcmd.h>

#include "area.h"
#include "privcmd.h"

static const struct {
	unsigned int cmd;
	long (*call)(struct privcmd_file *pf, void __user *arg);
} ioctls[] = {
	{ IOCTL_PRIVCMD_HYPERCALL, hypercall_ioctl },
	{ IOCTL_PRIVCMD_MMAP, mmap_ioctl },
	{ IOCTL_PRIVCMD_MMAPBATCH, batch_ioctl_v1 },
	{ IOCTL_PRIVCMD_MMAPBATCH_V2, batch_ioctl_v2 },
	{ IOCTL_PRIVCMD_DM_OP, dm_op_ioctl },
	{ IOCTL_PRIVCMD_RESTRICT, restrict_ioctl },
	{ IOCTL_PRIVCMD_MMAP_RESOURCE, resource_ioctl },
#ifdef IOCTL_PRIVCMD_IRQFD
	{ IOCTL_PRIVCMD_IRQFD, irqfd_ioctl },
	{ IOCTL_PRIVCMD_IOEVENTFD, ioeventfd_ioctl },
#endif
#ifdef IOCTL_PRIVCMD_PCIDEV_GET_GSI
	{ IOCTL_PRIVCMD_PCIDEV_GET_GSI, pcidev_get_gsi_ioctl },
#endif
	{ IOCTL_XENFERRY_QUERY, query_ioctl },
	{ IOCTL_XENFERRY_MAP, window_map_ioctl },
	{ IOCTL_XENFERRY_CLEAR, window_clear_ioctl },
	{ IOCTL_XENFERRY_COUNTERS, counters_ioctl },
};

static long privcmd_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++)
		if (ioctls[i].cmd == cmd)
			/* Programs have always seen a hypercall's result as an int. */
			return (int)ioctls[i].call(file->private_data,
						   (void __user *)arg);
	return -ENOTTY;
}

static int privcmd_open(struct inode *inode, struct file *file)
{
	struct privcmd_file *pf = may_lack(kzalloc(sizeof(*pf), GFP_KERNEL));
	int rc;

	if (!pf)
		return -ENOMEM;
	rc = restrict_new_file(pf);
	if (rc) {
		kfree(pf);
		return rc;
	}
	file->private_data = pf;
	return 0;
}

static int privcmd_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

const struct file_operations xen_privcmd_fops = {
	.owner = THIS_MODULE,
	.open = privcmd_open,
	.release = privcmd_release,
	.unlocked_ioctl = privcmd_ioctl,
	.mmap = area_mmap,
	/* A large area fills its page-table pages: fewer of them, which can be emptied as a whole. */
	.get_unmapped_area = thp_get_unmapped_area,
};

struct miscdevice privcmd_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "xen/privcmd",
	.fops = &xen_privcmd_fops,
};
