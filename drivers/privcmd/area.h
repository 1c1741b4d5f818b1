/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An area: what one mmap() of /dev/xen/privcmd made, from the first frame
 * mapped in it to its end. It hangs at vma->vm_private_data, which is NULL
 * until something is mapped. mmap_lock (for writing, or held by whoever is
 * unmapping the range) guards all of it.
 */
#ifndef XENFERRY_PRIVCMD_AREA_H
#define XENFERRY_PRIVCMD_AREA_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>

#include <xen/interface/xen.h>

#include "../../arch/x86/xen/remap.h"

struct area;

/* Hears of a range being unmapped, before the kernel goes through its entries. */
struct area_watch {
	struct mmu_interval_notifier notifier;
	struct area *area;
	bool armed;
};

struct area {
	unsigned int vmas;		/* 1, or 2 while mremap() moves it */
	unsigned long nr;		/* pages */

	struct remap_batch batch;

	/* PV */
	struct area_watch watch[2];	/* one for each of the vmas */
	domid_t domid;			/* whose frames are mapped */
	domid_t *domids;		/* page by page, where they are several domains' */
	xen_pfn_t *parked;		/* frames taken out while it is being moved */

	/* auto-translated */
	struct page **backing;
};

int area_mmap(struct file *file, struct vm_area_struct *vma);
bool area_is_vma(const struct vm_area_struct *vma);

static inline struct area *area_of(const struct vm_area_struct *vma)
{
	return vma->vm_private_data;
}

/* Whether [addr, addr + nr pages) lies within the vma. */
static inline bool area_covers(const struct vm_area_struct *vma,
			       unsigned long addr, unsigned long nr)
{
	return addr >= vma->vm_start && addr <= vma->vm_end &&
	       nr <= (vma->vm_end - addr) >> PAGE_SHIFT;
}

int area_create(struct vm_area_struct *vma);
int area_map(struct remap_request *request);
void area_clear(struct vm_area_struct *vma, unsigned long addr,
		unsigned long nr);

#endif
