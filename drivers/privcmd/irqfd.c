// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOCTL_PRIVCMD_IRQFD: whenever an eventfd is signalled, a dm_op given
 * beforehand is carried out, which raises an interrupt in a guest. It lasts
 * until it is taken back or the eventfd is closed for good.
 */
#define pr_fmt(fmt) "xen:" KBUILD_MODNAME ": " fmt

#include "eventfd.h"
#include "privcmd.h"

#ifdef HAVE_EVENTFD_CALLS

#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <asm/xen/hypercall.h>
#include <xen/interface/hvm/dm_op.h>
#include <xen/xen-ops.h>
#include <xen/xenferry_inject.h>

struct irqfd {
	struct list_head link;		/* empty once it is to end */
	struct eventfd_ctx *eventfd;
	wait_queue_entry_t wait;
	poll_table table;
	struct work_struct end;
	domid_t domid;
	bool failed;			/* and was said to have */
	struct xen_dm_op_buf op;
	u8 data[];
};

/* Who adds or takes back, one at a time: so none is taken back half made. */
static DEFINE_MUTEX(irqfd_mutex);
/* The list is changed where an eventfd is closed, too, and nobody may sleep. */
static DEFINE_SPINLOCK(irqfd_lock);
static LIST_HEAD(irqfds);
static struct workqueue_struct *irqfd_queue;

static void irqfd_free(struct irqfd *irqfd)
{
	eventfd_ctx_put(irqfd->eventfd);
	kfree(irqfd);
}

static void irqfd_end(struct work_struct *work)
{
	struct irqfd *irqfd = container_of(work, struct irqfd, end);
	u64 count;

	eventfd_ctx_remove_wait_queue(irqfd->eventfd, &irqfd->wait, &count);
	irqfd_free(irqfd);
}

/* irqfd_lock is held. */
static void irqfd_let_end(struct irqfd *irqfd)
{
	if (list_empty(&irqfd->link))
		return;
	list_del_init(&irqfd->link);
	queue_work(irqfd_queue, &irqfd->end);
}

static void irqfd_raise(struct irqfd *irqfd)
{
	u64 count;
	long rc;

	eventfd_ctx_do_read(irqfd->eventfd, &count);
	xen_preemptible_hcall_begin();
	rc = HYPERVISOR_dm_op(irqfd->domid, 1, &irqfd->op);
	xen_preemptible_hcall_end();
	if (rc && !irqfd->failed)
		pr_err("could not raise the interrupt of an eventfd in domain %u: error %ld\n",
		       irqfd->domid, rc);
	irqfd->failed = rc;
}

/* The eventfd's own lock is held. */
static int irqfd_woken(wait_queue_entry_t *wait, unsigned int mode, int sync,
		       void *key)
{
	struct irqfd *irqfd = container_of(wait, struct irqfd, wait);
	__poll_t events = key_to_poll(key);
	unsigned long flags;

	if (events & EPOLLIN)
		irqfd_raise(irqfd);
	if (events & EPOLLHUP) {
		spin_lock_irqsave(&irqfd_lock, flags);
		irqfd_let_end(irqfd);
		spin_unlock_irqrestore(&irqfd_lock, flags);
	}
	return 0;
}

static void irqfd_queued(struct file *file, wait_queue_head_t *head,
			 poll_table *table)
{
	struct irqfd *irqfd = container_of(table, struct irqfd, table);

	add_wait_queue_priority(head, &irqfd->wait);
}

static struct irqfd *irqfd_find(const struct eventfd_ctx *eventfd)
{
	struct irqfd *irqfd;

	list_for_each_entry(irqfd, &irqfds, link)
		if (irqfd->eventfd == eventfd)
			return irqfd;
	return NULL;
}

/* The operation, copied from the caller. */
static struct irqfd *irqfd_alloc(const struct privcmd_irqfd *cmd)
{
	struct irqfd *irqfd = may_lack(kzalloc(sizeof(*irqfd) + cmd->size,
					       GFP_KERNEL | __GFP_NOWARN));

	if (!irqfd)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(irqfd->data, u64_to_user_ptr(cmd->dm_op), cmd->size)) {
		kfree(irqfd);
		return ERR_PTR(-EFAULT);
	}
	set_xen_guest_handle(irqfd->op.h, irqfd->data);
	irqfd->op.size = cmd->size;
	irqfd->domid = cmd->dom;
	INIT_WORK(&irqfd->end, irqfd_end);
	init_waitqueue_func_entry(&irqfd->wait, irqfd_woken);
	init_poll_funcptr(&irqfd->table, irqfd_queued);
	return irqfd;
}

/* irqfd_mutex is held; while the file is, it isn't closed for good. */
static int irqfd_add(struct irqfd *irqfd, struct file *file)
{
	bool taken;

	spin_lock_irq(&irqfd_lock);
	taken = irqfd_find(irqfd->eventfd);
	if (!taken)
		list_add_tail(&irqfd->link, &irqfds);
	spin_unlock_irq(&irqfd_lock);
	if (taken)
		return -EBUSY;
	/* What was signalled before counts. */
	if (vfs_poll(file, &irqfd->table) & EPOLLIN)
		irqfd_raise(irqfd);
	return 0;
}

static int irqfd_assign(const struct privcmd_irqfd *cmd)
{
	struct irqfd *irqfd = irqfd_alloc(cmd);
	struct file *file;
	int rc = -EBADF;

	if (IS_ERR(irqfd))
		return PTR_ERR(irqfd);
	file = fget(cmd->fd);
	if (!file)
		goto free;
	irqfd->eventfd = eventfd_ctx_fileget(file);
	rc = PTR_ERR_OR_ZERO(irqfd->eventfd);
	if (rc)
		goto put;
	mutex_lock(&irqfd_mutex);
	rc = irqfd_add(irqfd, file);
	mutex_unlock(&irqfd_mutex);
	if (rc)
		eventfd_ctx_put(irqfd->eventfd);
put:
	fput(file);
free:
	if (rc)
		kfree(irqfd);
	return rc;
}

/* That there is none is no error. Returns when it raises no more. */
static int irqfd_deassign(const struct privcmd_irqfd *cmd)
{
	struct eventfd_ctx *eventfd = eventfd_ctx_fdget(cmd->fd);
	struct irqfd *irqfd;

	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	mutex_lock(&irqfd_mutex);
	spin_lock_irq(&irqfd_lock);
	irqfd = irqfd_find(eventfd);
	if (irqfd)
		irqfd_let_end(irqfd);
	spin_unlock_irq(&irqfd_lock);
	mutex_unlock(&irqfd_mutex);
	eventfd_ctx_put(eventfd);
	flush_workqueue(irqfd_queue);
	return 0;
}

long irqfd_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_irqfd cmd;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	if (cmd.flags & ~PRIVCMD_IRQFD_FLAG_DEASSIGN)
		return -EINVAL;
	if (!privcmd_may_touch(pf, cmd.dom))
		return -EPERM;
	return cmd.flags & PRIVCMD_IRQFD_FLAG_DEASSIGN ? irqfd_deassign(&cmd) :
							 irqfd_assign(&cmd);
}

int irqfd_start(void)
{
	irqfd_queue = alloc_workqueue("xenferry-irqfd", WQ_UNBOUND, 0);
	return irqfd_queue ? 0 : -ENOMEM;
}

void irqfd_stop(void)
{
	struct irqfd *irqfd, *next;

	spin_lock_irq(&irqfd_lock);
	list_for_each_entry_safe(irqfd, next, &irqfds, link)
		irqfd_let_end(irqfd);
	spin_unlock_irq(&irqfd_lock);
	destroy_workqueue(irqfd_queue);
}

#elif defined(IOCTL_PRIVCMD_IRQFD)

long irqfd_ioctl(struct privcmd_file *pf, void __user *arg)
{
	return -EOPNOTSUPP;
}

#endif
