// SPDX-License-Identifier: GPL-2.0-only
/* IOCTL_XENFERRY_QUERY and _COUNTERS: what this module is, can do, and has done. */
#include <linux/string.h>
#include <linux/uaccess.h>

#include "area.h"
#include "privcmd.h"
#include "window.h"

long query_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct xenferry_query query;

	BUILD_BUG_ON(sizeof(XENFERRY_VERSION) > sizeof(query.version));
	if (copy_from_user(&query, arg, sizeof(query)))
		return -EFAULT;
	if (query.reserved)
		return -EINVAL;

	memset(&query, 0, sizeof(query));
	query.abi = XENFERRY_PRIVCMD_ABI;
	query.features = XENFERRY_FEATURE_REPLACE | XENFERRY_FEATURE_CLEAR |
			 (remap_auto_translated() ?
				XENFERRY_FEATURE_AUTO_XLATED :
				XENFERRY_FEATURE_BATCHED_UNMAP);
	query.max_frames = WINDOW_MAX_FRAMES;
	strscpy(query.version, XENFERRY_VERSION, sizeof(query.version));
	return copy_to_user(arg, &query, sizeof(query)) ? -EFAULT : 0;
}

long counters_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct xenferry_counters sum;

	remap_counters(&sum);
	return copy_to_user(arg, &sum, sizeof(sum)) ? -EFAULT : 0;
}
