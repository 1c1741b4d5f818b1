/* SPDX-License-Identifier: GPL-2.0-only */
/* Where kernels differ: the only place that asks for a feature. Kbuild looks for them in the kernel's headers. */
#ifndef XENFERRY_COMPAT_H
#define XENFERRY_COMPAT_H

#include <linux/mm.h>

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/* Later kernels say it by an option. */
#ifndef USE_SPLIT_PTE_PTLOCKS
#define USE_SPLIT_PTE_PTLOCKS IS_ENABLED(CONFIG_SPLIT_PTE_PTLOCKS)
#endif

#ifdef HAVE_ZAP_SPECIAL_VMA_RANGE
#define zap_vma_ptes zap_special_vma_range
#endif

#endif
