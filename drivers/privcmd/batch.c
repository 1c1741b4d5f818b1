// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOCTL_PRIVCMD_MMAPBATCH and _V2: an array of frames over an area. The first
 * call must cover the whole area; later ones may fill holes that were left.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>

#include <xen/privcmd.h>

#include "area.h"
#include "privcmd.h"
#include "user_array.h"

/* From this length on, an array is looked at before memory is spent on it. */
#define BATCH_LARGE (16 * ARRAY_CHUNK_MAX)

/* So many chunks are mapped before mmap_lock is given away for a moment. */
#define BATCH_LOCKED 16

struct batch {
	unsigned long addr;
	unsigned int nr;
	domid_t domid;
	const xen_pfn_t __user *frames;
	bool v2;
	xen_pfn_t __user *v1_frames;	/* version 1: errors are marked in the array */
	int __user *v2_errors;		/* version 2: they have an array of their own */
};

static struct vm_area_struct *batch_vma(const struct batch *b)
{
	struct vm_area_struct *vma = find_vma(current->mm, b->addr);

	if (!vma || !area_is_vma(vma) || !area_covers(vma, b->addr, b->nr))
		return NULL;
	return vma;
}

static int batch_prepare(const struct batch *b, struct vm_area_struct *vma)
{
	if (!area_of(vma)) {
		if (b->addr != vma->vm_start || b->nr != vma_pages(vma))
			return -EINVAL;
		return area_create(vma);
	}
	return remap_range_is_empty(vma->vm_mm, b->addr & PAGE_MASK, b->nr) ? 0 : -EINVAL;
}

/*
 * Lets others at the address space, faults of other threads above all. NULL if
 * the area isn't what it was; what others mapped in it meanwhile is found by
 * looking.
 */
static struct vm_area_struct *batch_pause(const struct batch *b,
					  const struct area *area)
{
	struct vm_area_struct *vma;

	mmap_write_unlock(current->mm);
	cond_resched();
	mmap_write_lock(current->mm);
	vma = batch_vma(b);
	return vma && area_of(vma) == area ? vma : NULL;
}

static void batch_map_chunks(const struct batch *b, struct list_head *chunks,
			     struct remap_request *r)
{
	const struct area *area = area_of(r->vma);
	struct array_chunk *chunk;
	unsigned int n = 0;

	list_for_each_entry(chunk, chunks, link) {
		if (n && n % BATCH_LOCKED == 0 && r->vma)
			r->vma = batch_pause(b, area);
		r->frames = array_chunk_frames(chunk);
		r->errors = chunk->results;
		r->nr = chunk->nr;
		/* What ends a chunk early is in its frames' results. */
		if (r->vma && (n < BATCH_LOCKED ||
			       remap_range_is_empty(current->mm, r->addr, r->nr)))
			area_map(r);
		else
			remap_fail(r, 0, -EINVAL);
		r->addr += r->nr * PAGE_SIZE;
		n++;
	}
}

static int batch_map(const struct batch *b, struct list_head *chunks,
		     unsigned long *failed)
{
	struct remap_request r = { .domid = b->domid, .addr = b->addr & PAGE_MASK };
	int rc = -EINVAL;

	mmap_write_lock(current->mm);
	r.vma = batch_vma(b);
	if (r.vma)
		rc = batch_prepare(b, r.vma);
	if (!rc)
		batch_map_chunks(b, chunks, &r);
	mmap_write_unlock(current->mm);
	*failed = r.failed;
	return rc;
}

static int report_v1(const struct batch *b, unsigned long i, int error)
{
	xen_pfn_t frame;

	if (get_user(frame, &b->v1_frames[i]))
		return -EFAULT;
	frame |= error == -ENOENT ? PRIVCMD_MMAPBATCH_PAGED_ERROR :
				    PRIVCMD_MMAPBATCH_MFN_ERROR;
	return put_user(frame, &b->v1_frames[i]);
}

/* ENOENT, if any frame is paged out; else 0. */
static int batch_report(const struct batch *b, struct list_head *chunks)
{
	struct array_chunk *chunk;
	unsigned long at = 0;
	bool paged_out = false;
	unsigned int i;

	list_for_each_entry(chunk, chunks, link) {
		for (i = 0; i < chunk->nr; i++, at++) {
			int error = chunk->results[i];

			if (!error)
				continue;
			paged_out |= error == -ENOENT;
			if (b->v2 ? put_user(error, &b->v2_errors[at]) :
					   report_v1(b, at, error))
				return -EFAULT;
		}
	}
	return paged_out ? -ENOENT : 0;
}

/* A large array that can't be mapped anyway is read, but not kept. */
static int batch_read(const struct batch *b, struct list_head *chunks)
{
	struct user_array array = {
		.from = b->frames,
		.nr = b->nr,
		.size = sizeof(xen_pfn_t),
		.results = true,
	};
	bool fits = true;

	if (b->nr > BATCH_LARGE) {
		mmap_read_lock(current->mm);
		fits = batch_vma(b);
		mmap_read_unlock(current->mm);
	}
	if (fits)
		return user_array_read(chunks, &array);
	return user_array_probe(&array) ?: -EINVAL;
}

static int batch_clear_errors(const struct batch *b)
{
	if (b->v2 && clear_user(b->v2_errors, sizeof(int) * (size_t)b->nr))
		return -EFAULT;
	return 0;
}

static long batch_run(struct privcmd_file *pf, const struct batch *b)
{
	unsigned long failed = 0;
	LIST_HEAD(chunks);
	int rc;

	if (!access_ok(b->v2 ? (void __user *)b->v2_errors : b->v1_frames,
		       (b->v2 ? sizeof(int) : sizeof(xen_pfn_t)) * (size_t)b->nr))
		return -EFAULT;
	if (!privcmd_may_touch(pf, b->domid))
		return -EPERM;
	if (!b->nr)
		return -EINVAL;

	rc = batch_read(b, &chunks);
	if (rc == -EINVAL && batch_clear_errors(b))
		rc = -EFAULT;
	if (rc)
		goto out;
	rc = batch_clear_errors(b);
	if (rc)
		goto out;

	rc = batch_map(b, &chunks, &failed);
	if (!rc && failed)
		rc = batch_report(b, &chunks);
out:
	user_array_free(&chunks);
	return rc;
}

long batch_ioctl_v1(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_mmapbatch cmd;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	return batch_run(pf, &(struct batch) {
		.addr = cmd.addr,
		.nr = cmd.num,
		.domid = cmd.dom,
		.frames = cmd.arr,
		.v1_frames = cmd.arr,
	});
}

long batch_ioctl_v2(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_mmapbatch_v2 cmd;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	return batch_run(pf, &(struct batch) {
		.addr = cmd.addr,
		.nr = cmd.num,
		.domid = cmd.dom,
		.frames = cmd.arr,
		.v2 = true,
		.v2_errors = cmd.err,
	});
}
