// SPDX-License-Identifier: GPL-2.0-only
/*
 * mremap() of a whole area. The kernel moves entries by writing them at their
 * new place in its own name, which the hypervisor refuses for another domain's
 * frame. So the frames are taken out before (parked), and mapped at the new
 * place after, in their owner's name.
 *
 * What the kernel calls, with mmap_lock held for writing throughout:
 *   open(copy), notifier(old range), mremap(copy), notifier(old range),
 *   close(old)
 * or, where it runs out of memory on the way:
 *   open(copy), notifier(old range), notifier(new range), close(copy)
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include <xen/xenferry_inject.h>

#include "area_watch.h"

void area_move_begins(struct vm_area_struct *copy)
{
	struct area *area = area_of(copy);
	unsigned long i;

	if (!area)
		return;
	area->vmas++;
	if (area->backing)
		return;
	/* Can't fail: this address space has had a notifier before. */
	area_watch_arm(area, copy);
	area->parked = kvmalloc_array(area->nr, sizeof(*area->parked),
				      GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; area->parked && i < area->nr; i++)
		area->parked[i] = REMAP_NO_FRAME;
}

void area_park(struct area *area, struct mm_struct *mm, unsigned long area_start,
	       unsigned long start, unsigned long end)
{
	if (!area->parked)
		return;
	if (remap_clear(&area->batch, mm, start, end,
			area->parked + ((start - area_start) >> PAGE_SHIFT), true))
		remap_flush(mm, start, (end - start) >> PAGE_SHIFT);
}

static domid_t domid_at(const struct area *area, unsigned long i)
{
	return area->domids ? area->domids[i] : area->domid;
}

/* How many parked frames from i on can be mapped together. */
static unsigned long parked_run(const struct area *area, unsigned long i)
{
	unsigned long n = i;

	while (n < area->nr && area->parked[n] != REMAP_NO_FRAME &&
	       domid_at(area, n) == domid_at(area, i))
		n++;
	return n - i;
}

/*
 * Maps the parked frames in the vma. A frame that its owner has given back
 * meanwhile stays away; memory for page tables is the only thing to fail for.
 */
static int unpark(struct area *area, struct vm_area_struct *vma)
{
	struct remap_request r = { .vma = vma, .no_translate = true };
	s32 *errors;
	unsigned long i;
	int rc = 0;

	errors = may_lack(kvcalloc(area->nr, sizeof(*errors), GFP_KERNEL));
	if (!errors)
		return -ENOMEM;
	for (i = 0; !rc && i < area->nr; i += max(r.nr, 1UL)) {
		r.nr = parked_run(area, i);
		if (!r.nr)
			continue;
		r.addr = vma->vm_start + i * PAGE_SIZE;
		r.frames = area->parked + i;
		r.errors = errors + i;
		r.domid = domid_at(area, i);
		rc = remap_pv(&area->batch, &r);
	}
	kvfree(errors);
	return rc;
}

/* The kernel has moved what there was to move; the old range goes next. */
int area_moved(struct vm_area_struct *copy)
{
	struct area *area = area_of(copy);
	int rc;

	if (!area || area->backing)
		return 0;
	if (!area->parked)
		return -ENOMEM;
	rc = unpark(area, copy);
	if (rc)
		return rc;
	kvfree(area->parked);
	area->parked = NULL;
	return 0;
}

/*
 * One of the two vmas is gone. If frames are still parked, it was the copy,
 * and they belong where they were.
 */
void area_move_ended(struct area *area, struct vm_area_struct *gone)
{
	struct vm_area_struct *vma;
	unsigned int i;

	if (!area->parked)
		return;
	for (i = 0; i < ARRAY_SIZE(area->watch); i++) {
		if (!area->watch[i].armed)
			continue;
		vma = vma_lookup(gone->vm_mm,
				 area->watch[i].notifier.interval_tree.start);
		if (vma && area_of(vma) == area)
			unpark(area, vma);
	}
	kvfree(area->parked);
	area->parked = NULL;
}
