// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOCTL_PRIVCMD_MMAP: runs of consecutive frames, one after the other, over an
 * area that nothing has been mapped in. PV only. The first frame that can't be
 * mapped ends the call; what was mapped before it stays.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>

#include <xen/privcmd.h>

#include "area.h"
#include "privcmd.h"
#include "user_array.h"

static int map_run(struct remap_request *r, const struct privcmd_mmap_entry *run)
{
	unsigned long next = r->addr;
	xen_pfn_t first = run->mfn;
	int rc;

	/* Neither past the end of the address space nor of the vma, and no gap. */
	if (run->npages > (LONG_MAX >> PAGE_SHIFT) ||
	    run->npages << PAGE_SHIFT >= -next || run->va != next ||
	    next + (run->npages << PAGE_SHIFT) > r->vma->vm_end)
		return -EINVAL;

	r->frames = &first;
	r->nr = run->npages;
	rc = r->nr ? area_map(r) : 0;
	r->addr = next + (run->npages << PAGE_SHIFT);
	return rc;
}

static int map_runs(struct list_head *chunks, domid_t domid)
{
	struct array_chunk *chunk =
		list_first_entry(chunks, struct array_chunk, link);
	const struct privcmd_mmap_entry *run = (void *)chunk->data;
	struct remap_request r = { .domid = domid, .contiguous = true };
	unsigned int i;
	int rc;

	r.addr = run->va;
	r.vma = vma_lookup(current->mm, r.addr);
	if (!r.vma || !area_is_vma(r.vma) || r.addr != r.vma->vm_start ||
	    area_of(r.vma))
		return -EINVAL;
	rc = area_create(r.vma);
	if (rc)
		return rc;

	list_for_each_entry(chunk, chunks, link) {
		run = (void *)chunk->data;
		for (i = 0; i < chunk->nr; i++) {
			rc = map_run(&r, &run[i]);
			if (rc)
				return rc;
		}
	}
	return 0;
}

long mmap_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_mmap cmd;
	struct user_array array;
	LIST_HEAD(chunks);
	int rc;

	if (remap_auto_translated())
		return -ENOSYS;
	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	if (!privcmd_may_touch(pf, cmd.dom))
		return -EPERM;

	array = (struct user_array) {
		.from = cmd.entry,
		.nr = (unsigned int)cmd.num,
		.size = sizeof(struct privcmd_mmap_entry),
	};
	rc = user_array_read(&chunks, &array);
	if (!rc && !list_empty(&chunks)) {
		mmap_write_lock(current->mm);
		rc = map_runs(&chunks, cmd.dom);
		mmap_write_unlock(current->mm);
	}
	user_array_free(&chunks);
	return rc;
}
