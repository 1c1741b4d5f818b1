// SPDX-License-Identifier: GPL-2.0-only
/* IOCTL_PRIVCMD_HYPERCALL: any hypercall, as the caller composed it. */
#include <linux/uaccess.h>

#include <asm/xen/hypercall.h>
#include <xen/privcmd.h>
#include <xen/xen-ops.h>

#include "privcmd.h"

long hypercall_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_hypercall call;
	long rc;

	/* Its arguments could name any domain. */
	if (pf->domid != DOMID_INVALID)
		return -EPERM;
	if (copy_from_user(&call, arg, sizeof(call)))
		return -EFAULT;

	xen_preemptible_hcall_begin();
	rc = privcmd_call(call.op, call.arg[0], call.arg[1], call.arg[2],
			  call.arg[3], call.arg[4]);
	xen_preemptible_hcall_end();
	return rc;
}
