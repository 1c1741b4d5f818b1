/* SPDX-License-Identifier: GPL-2.0-only */
/* Where kernels differ: the only place that asks for a version or a feature. */
#ifndef XENFERRY_PRIVCMD_COMPAT_H
#define XENFERRY_PRIVCMD_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif
