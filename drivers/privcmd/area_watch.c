// SPDX-License-Identifier: GPL-2.0-only
/*
 * PV: munmap() would take each entry out with a write that traps to the
 * hypervisor. The notifier is called before that, clears the entries in
 * batches, and the kernel finds nothing left to do.
 *
 * It is called for every way of unmapping: munmap(), a new mapping over the
 * old one, and mremap(), which means to keep the frames. Where the process is
 * ending there is nothing to gain: the page tables are no longer the
 * hypervisor's by then, and clearing an entry traps no more.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>

#include <xen/xenferry_inject.h>

#include "area_watch.h"

static bool area_unmapping(struct mmu_interval_notifier *notifier,
			   const struct mmu_notifier_range *range,
			   unsigned long seq)
{
	struct area_watch *watch =
		container_of(notifier, struct area_watch, notifier);
	struct area *area = watch->area;
	unsigned long first = notifier->interval_tree.start;
	unsigned long start = max(range->start, first);
	unsigned long end = min(range->end, notifier->interval_tree.last + 1);

	if (range->event != MMU_NOTIFY_UNMAP ||
	    !atomic_read(&range->mm->mm_users))
		return true;

	if (area->vmas > 1)
		area_park(area, range->mm, first, start, end);
	else if (remap_clear(&area->batch, range->mm, start, end, NULL,
			     mmu_notifier_range_blockable(range)))
		remap_flush(range->mm, start, (end - start) >> PAGE_SHIFT);
	return true;
}

static const struct mmu_interval_notifier_ops area_watch_ops = {
	.invalidate = area_unmapping,
};

static int insert(struct area_watch *watch, struct vm_area_struct *vma)
{
	return may_fail(-ENOMEM,
			mmu_interval_notifier_insert_locked(&watch->notifier,
							    vma->vm_mm, vma->vm_start,
							    vma->vm_end - vma->vm_start,
							    &area_watch_ops));
}

/*
 * mmap_lock is held for writing. The first notifier of an address space is
 * refused while a signal is pending, which is no reason for a mapping to fail.
 * If it can't be had for another such reason, unmapping is slow, no more.
 */
int area_watch_arm(struct area *area, struct vm_area_struct *vma)
{
	struct area_watch *watch = &area->watch[area->watch[0].armed];
	sigset_t all, old;
	int rc;

	watch->area = area;
	rc = insert(watch, vma);
	if (rc == -EINTR) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &old);
		rc = insert(watch, vma);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	watch->armed = !rc;
	return rc == -EINTR ? 0 : rc;
}

void area_watch_disarm(struct area *area, struct vm_area_struct *vma)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(area->watch); i++) {
		struct area_watch *watch = &area->watch[i];

		if (!watch->armed ||
		    watch->notifier.interval_tree.start != vma->vm_start)
			continue;
		mmu_interval_notifier_remove(&watch->notifier);
		watch->armed = false;
		return;
	}
}
