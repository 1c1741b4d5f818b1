// SPDX-License-Identifier: GPL-2.0-only
/* xenferry's xen-privcmd: the privileged interface to the hypervisor. */
#define pr_fmt(fmt) "xen:" KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>

#include <xen/xen.h>

#include "../../arch/x86/xen/remap.h"
#include "eventfd.h"
#include "privcmd.h"
#include "user_array.h"

module_param_named(per_frame, remap_per_frame, bool, 0644);
MODULE_PARM_DESC(per_frame,
		 "For comparison only: one hypercall a frame, with a TLB flush after each, to map and to unmap");

static int __init privcmd_init(void)
{
	int rc;

	if (!xen_domain())
		return -ENODEV;

	rc = remap_start();
	if (rc)
		return rc;
	rc = user_array_start();
	if (rc)
		goto stop_remap;
	restrict_start();

	rc = irqfd_start();
	if (rc)
		goto stop;
	rc = misc_register(&privcmd_device);
	if (rc) {
		pr_err("could not register /dev/xen/privcmd: error %d\n", rc);
		goto stop_irqfd;
	}
	rc = misc_register(&privcmd_buf_device);
	if (rc) {
		pr_err("could not register /dev/xen/hypercall: error %d\n", rc);
		goto deregister;
	}
	return 0;

deregister:
	misc_deregister(&privcmd_device);
stop_irqfd:
	irqfd_stop();
stop:
	restrict_stop();
	user_array_stop();
stop_remap:
	remap_stop();
	return rc;
}

static void __exit privcmd_exit(void)
{
	misc_deregister(&privcmd_buf_device);
	misc_deregister(&privcmd_device);
	ioeventfd_stop();
	irqfd_stop();
	restrict_stop();
	user_array_stop();
	remap_stop();
}

module_init(privcmd_init);
module_exit(privcmd_exit);

MODULE_DESCRIPTION("Xen privileged commands, with batched mapping of guest memory");
MODULE_VERSION(XENFERRY_VERSION);
MODULE_LICENSE("GPL");
