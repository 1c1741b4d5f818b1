// SPDX-License-Identifier: GPL-2.0-only
/* IOCTL_PRIVCMD_PCIDEV_GET_GSI: the interrupt line of a PCI device, in a PVH Dom0. */
#include <linux/uaccess.h>

#include <xen/privcmd.h>

#include "privcmd.h"

#ifdef IOCTL_PRIVCMD_PCIDEV_GET_GSI
#include <xen/acpi.h>

long pcidev_get_gsi_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_pcidev_get_gsi cmd;
	int gsi;

	if (!IS_ENABLED(CONFIG_XEN_ACPI))
		return -EINVAL;
	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	gsi = xen_acpi_get_gsi_from_sbdf(cmd.sbdf);
	if (gsi < 0)
		return gsi;
	cmd.gsi = gsi;
	return copy_to_user(arg, &cmd, sizeof(cmd)) ? -EFAULT : 0;
}
#endif
