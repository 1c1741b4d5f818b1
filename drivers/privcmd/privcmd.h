/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_PRIVCMD_PRIVCMD_H
#define XENFERRY_PRIVCMD_PRIVCMD_H

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/types.h>

#include <xen/interface/xen.h>

/* What an open descriptor of /dev/xen/privcmd knows. */
struct privcmd_file {
	domid_t domid;	/* the only domain it may touch, DOMID_INVALID: any */
};

static inline bool privcmd_may_touch(const struct privcmd_file *pf, u32 domid)
{
	return pf->domid == DOMID_INVALID || pf->domid == domid;
}

extern const struct file_operations xen_privcmd_fops;
extern const struct file_operations xen_privcmdbuf_fops;
extern struct miscdevice privcmd_device;
extern struct miscdevice privcmd_buf_device;

/* restrict.c: what a domU may do (XSA-482) */
void restrict_start(void);
void restrict_stop(void);
int restrict_new_file(struct privcmd_file *pf);
long restrict_ioctl(struct privcmd_file *pf, void __user *arg);

/* the other ioctls, a file each */
long hypercall_ioctl(struct privcmd_file *pf, void __user *arg);
long mmap_ioctl(struct privcmd_file *pf, void __user *arg);
long batch_ioctl_v1(struct privcmd_file *pf, void __user *arg);
long batch_ioctl_v2(struct privcmd_file *pf, void __user *arg);
long dm_op_ioctl(struct privcmd_file *pf, void __user *arg);
long resource_ioctl(struct privcmd_file *pf, void __user *arg);
long irqfd_ioctl(struct privcmd_file *pf, void __user *arg);
long ioeventfd_ioctl(struct privcmd_file *pf, void __user *arg);
long pcidev_get_gsi_ioctl(struct privcmd_file *pf, void __user *arg);
long query_ioctl(struct privcmd_file *pf, void __user *arg);
long counters_ioctl(struct privcmd_file *pf, void __user *arg);
long window_map_ioctl(struct privcmd_file *pf, void __user *arg);
long window_clear_ioctl(struct privcmd_file *pf, void __user *arg);

#endif
