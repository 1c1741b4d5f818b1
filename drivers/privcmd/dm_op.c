// SPDX-License-Identifier: GPL-2.0-only
/* IOCTL_PRIVCMD_DM_OP: a device-model operation on one domain, with its buffers. */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/xen/hypercall.h>
#include <xen/interface/hvm/dm_op.h>
#include <xen/privcmd.h>
#include <xen/xen-ops.h>

#include "privcmd.h"

static unsigned int max_buffers = 16;
module_param_named(dm_op_max_nr_bufs, max_buffers, uint, 0644);
MODULE_PARM_DESC(dm_op_max_nr_bufs,
		 "Maximum number of buffers per dm_op hypercall");

static unsigned int max_buffer_size = 4096;
module_param_named(dm_op_buf_max_size, max_buffer_size, uint, 0644);
MODULE_PARM_DESC(dm_op_buf_max_size,
		 "Maximum size of a dm_op hypercall buffer");

/* The call's buffers, and the pages they lie in, held in memory for its time. */
struct dm_op {
	unsigned int nr;
	struct privcmd_dm_op_buf *user;
	struct xen_dm_op_buf *xen;
	struct page **pages;
	unsigned int nr_pages;
	unsigned int pinned;
};

static unsigned int buffer_pages(const struct privcmd_dm_op_buf *buf)
{
	return DIV_ROUND_UP(offset_in_page(buf->uptr) + buf->size, PAGE_SIZE);
}

static int read_buffers(struct dm_op *op, const void __user *from)
{
	unsigned int i;

	op->user = kcalloc(op->nr, sizeof(*op->user), GFP_KERNEL);
	if (!op->user)
		return -ENOMEM;
	if (copy_from_user(op->user, from, op->nr * sizeof(*op->user)))
		return -EFAULT;

	for (i = 0; i < op->nr; i++) {
		if (op->user[i].size > READ_ONCE(max_buffer_size))
			return -E2BIG;
		if (!access_ok(op->user[i].uptr, op->user[i].size))
			return -EFAULT;
		op->nr_pages += buffer_pages(&op->user[i]);
	}
	op->pages = kcalloc(op->nr_pages, sizeof(*op->pages), GFP_KERNEL);
	op->xen = kcalloc(op->nr, sizeof(*op->xen), GFP_KERNEL);
	return op->pages && op->xen ? 0 : -ENOMEM;
}

/* An empty buffer may touch no page at all; asked for none, the kernel would pin one. */
static int pin_buffer(struct dm_op *op, const struct privcmd_dm_op_buf *buf)
{
	unsigned int want = buffer_pages(buf), got = 0;

	while (got < want) {
		int n = pin_user_pages_fast((unsigned long)buf->uptr +
					    got * PAGE_SIZE, want - got,
					    FOLL_WRITE, op->pages + op->pinned);

		if (n <= 0)
			return n ?: -EFAULT;
		got += n;
		op->pinned += n;
	}
	return 0;
}

static int prepare(struct dm_op *op, const void __user *from)
{
	unsigned int i;
	int rc = read_buffers(op, from);

	for (i = 0; !rc && i < op->nr; i++) {
		rc = pin_buffer(op, &op->user[i]);
		set_xen_guest_handle(op->xen[i].h, op->user[i].uptr);
		op->xen[i].size = op->user[i].size;
	}
	return rc;
}

static void finish(struct dm_op *op)
{
	unpin_user_pages_dirty_lock(op->pages, op->pinned, true);
	kfree(op->xen);
	kfree(op->pages);
	kfree(op->user);
}

long dm_op_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_dm_op cmd;
	struct dm_op op = { };
	long rc;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	if (!privcmd_may_touch(pf, cmd.dom))
		return -EPERM;
	if (!cmd.num)
		return 0;
	if (cmd.num > READ_ONCE(max_buffers))
		return -E2BIG;

	op.nr = cmd.num;
	rc = prepare(&op, cmd.ubufs);
	if (!rc) {
		xen_preemptible_hcall_begin();
		rc = HYPERVISOR_dm_op(cmd.dom, op.nr, op.xen);
		xen_preemptible_hcall_end();
	}
	finish(&op);
	return rc;
}
