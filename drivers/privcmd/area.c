// SPDX-License-Identifier: GPL-2.0-only
/* Areas: making and ending them, and mapping within. area_move.c has mremap(). */
#include <linux/mm.h>
#include <linux/slab.h>

#include <xen/xenferry_compat.h>
#include <xen/xenferry_inject.h>

#include "area.h"
#include "area_watch.h"
#include "eventfd.h"

static void area_free(struct area *area)
{
	ioeventfd_area_goes(area);
	if (area->backing)
		remap_backing_free(area->backing, area->nr);
	remap_batch_free(&area->batch);
	kvfree(area->domids);
	kvfree(area->parked);
	kfree(area);
}

static int area_prepare(struct area *area, struct vm_area_struct *vma)
{
	int rc = remap_batch_init(&area->batch, area->nr);

	if (rc)
		return rc;
	if (remap_auto_translated()) {
		area->backing = remap_backing_alloc(area->nr);
		return area->backing ? 0 : -ENOMEM;
	}
	area->domid = DOMID_INVALID;
	return area_watch_arm(area, vma);
}

/* Before the first frame is mapped. mmap_lock is held for writing. */
int area_create(struct vm_area_struct *vma)
{
	struct area *area = may_lack(kzalloc(sizeof(*area), GFP_KERNEL));
	int rc;

	if (!area)
		return -ENOMEM;
	area->vmas = 1;
	area->nr = vma_pages(vma);
	rc = area_prepare(area, vma);
	if (rc) {
		area_free(area);
		return rc;
	}
	vma->vm_private_data = area;
	return 0;
}

/* Remembers whose frames are where: mremap() has to map them again. */
static int area_note_domid(struct area *area, const struct remap_request *r)
{
	unsigned long first = (r->addr - r->vma->vm_start) >> PAGE_SHIFT, i;

	if (area->domid == DOMID_INVALID)
		area->domid = r->domid;
	if (area->domid == r->domid && !area->domids)
		return 0;
	if (!area->domids) {
		area->domids = may_lack(kvmalloc_array(area->nr,
						       sizeof(*area->domids),
						       GFP_KERNEL | __GFP_NOWARN));
		if (!area->domids)
			return -ENOMEM;
		for (i = 0; i < area->nr; i++)
			area->domids[i] = area->domid;
	}
	for (i = 0; i < r->nr; i++)
		area->domids[first + i] = r->domid;
	return 0;
}

/*
 * Maps frames in an area that exists; the range is known to lie within it.
 * Returns 0 when every frame was tried. The flush is the caller's, once he is
 * through with his requests: see request->stale.
 */
int area_map(struct remap_request *r)
{
	struct area *area = area_of(r->vma);
	int rc;

	if (area->backing) {
		r->backing = area->backing +
			     ((r->addr - r->vma->vm_start) >> PAGE_SHIFT);
		return remap_auto(&area->batch, r);
	}
	rc = area_note_domid(area, r);
	return rc ? remap_fail(r, 0, rc) : remap_pv(&area->batch, r);
}

void area_clear(struct vm_area_struct *vma, unsigned long addr, unsigned long nr)
{
	struct area *area = area_of(vma);

	if (!area)
		return;
	if (area->backing)
		remap_auto_clear(vma, addr, nr, area->backing +
				 ((addr - vma->vm_start) >> PAGE_SHIFT));
	else if (remap_clear(&area->batch, vma->vm_mm, addr,
			     addr + nr * PAGE_SIZE, NULL, true))
		remap_flush(vma->vm_mm, addr, nr);
}

static void area_close(struct vm_area_struct *vma)
{
	struct area *area = area_of(vma);

	if (!area)
		return;
	area_watch_disarm(area, vma);
	if (--area->vmas)
		area_move_ended(area, vma);
	else
		area_free(area);
}

/* A part can't be unmapped or changed alone: nothing here is kept by parts (XSA-487). */
static int area_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

/*
 * The kernel changes an entry by writing it anew in its own name, which the
 * hypervisor refuses for another domain's frame: the kernel would warn, and
 * the process fault for ever on what it believes it may do. An entry of an
 * auto-translated Dom0 maps a page of its own.
 */
static int area_mprotect(struct vm_area_struct *vma, unsigned long start,
			 unsigned long end, unsigned long flags)
{
	struct area *area = area_of(vma);
	bool part = start > vma->vm_start || end < vma->vm_end;

	/* That of a part fails by itself, unless it changes nothing. */
	if (!area || area->backing || part || flags == vma->vm_flags)
		return 0;
	return -EACCES;
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	pr_debug("no frame mapped at %lx, in %lx-%lx\n", vmf->address,
		 vmf->vma->vm_start, vmf->vma->vm_end);
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct area_vm_ops = {
	.open = area_move_begins,
	.mremap = area_moved,
	.close = area_close,
	.may_split = area_may_split,
	.mprotect = area_mprotect,
	.fault = area_fault,
};

bool area_is_vma(const struct vm_area_struct *vma)
{
	return vma->vm_ops == &area_vm_ops;
}

int area_mmap(struct file *file, struct vm_area_struct *vma)
{
	/* fork() can't copy an entry that maps another domain's frame. */
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND |
			  VM_DONTDUMP);
	vma->vm_ops = &area_vm_ops;
	vma->vm_private_data = NULL;
	return 0;
}
