// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which domain a descriptor may touch. In Dom0 that is any, until the program
 * gives the right up. In a domU it is the one that xenstore names as its
 * target, and none at all where there is no target: a domU's root must not get
 * at the hypervisor behind a locked-down kernel's back (XSA-482).
 */
#define pr_fmt(fmt) "xen:" KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include <xen/xen.h>
#include <xen/xenbus.h>

#include "privcmd.h"

static bool unrestricted;
module_param(unrestricted, bool, 0);
MODULE_PARM_DESC(unrestricted,
	"Don't restrict hypercalls to target domain if running in a domU");

static domid_t default_domid = DOMID_INVALID;

/* While set, nobody knows yet what a new descriptor may do. */
static bool undecided;
static DECLARE_WAIT_QUEUE_HEAD(decided);

static int xenstore_ready(struct notifier_block *nb, unsigned long event,
			  void *data)
{
	char *target = xenbus_read(XBT_NIL, "target", "", NULL);
	unsigned int domid;

	if (IS_ERR(target) || kstrtouint(target, 10, &domid)) {
		/* An id no domain can have: everything is refused. */
		default_domid = DOMID_IDLE;
		pr_err("No target domain found, blocking all hypercalls\n");
	} else {
		default_domid = domid;
	}
	if (!IS_ERR(target))
		kfree(target);

	WRITE_ONCE(undecided, false);
	wake_up_all(&decided);
	return NOTIFY_DONE;
}

static struct notifier_block xenstore_notifier = {
	.notifier_call = xenstore_ready,
};

void restrict_start(void)
{
	if (xen_initial_domain())
		return;
	if (unrestricted) {
		if (!security_locked_down(LOCKDOWN_XEN_USER_ACTIONS))
			return;
		pr_warn("Kernel is locked down, parameter \"unrestricted\" ignored\n");
	}
	undecided = true;
	register_xenstore_notifier(&xenstore_notifier);
}

/* Harmless where it was never registered. */
void restrict_stop(void)
{
	unregister_xenstore_notifier(&xenstore_notifier);
}

int restrict_new_file(struct privcmd_file *pf)
{
	if (wait_event_interruptible(decided, !READ_ONCE(undecided)) < 0)
		return -EINTR;
	pf->domid = default_domid;
	return 0;
}

/* Once tied to a domain, a descriptor stays tied to it. */
long restrict_ioctl(struct privcmd_file *pf, void __user *arg)
{
	domid_t domid, old;

	if (copy_from_user(&domid, arg, sizeof(domid)))
		return -EFAULT;
	old = cmpxchg(&pf->domid, DOMID_INVALID, domid);
	return old == DOMID_INVALID || old == domid ? 0 : -EINVAL;
}
