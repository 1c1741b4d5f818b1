// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOCTL_XENFERRY_MAP and _CLEAR: an area used as a window, whose frames are
 * replaced in place. One update an entry, and one TLB flush a call if anything
 * was there before.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "area.h"
#include "privcmd.h"
#include "user_array.h"
#include "window.h"

/* NULL where the range isn't part of one window. */
static struct vm_area_struct *window_vma(unsigned long addr, unsigned long nr)
{
	struct vm_area_struct *vma = vma_lookup(current->mm, addr);

	if (!vma || !area_is_vma(vma) || !area_covers(vma, addr, nr))
		return NULL;
	/* A private mapping can hold copies, which aren't this driver's to replace. */
	return is_cow_mapping(vma->vm_flags) ? NULL : vma;
}

static int replace_frames(const struct xenferry_map *map,
			  struct list_head *chunks, unsigned long *failed)
{
	struct remap_request r = {
		.vma = window_vma(map->addr, map->num),
		.addr = map->addr,
		.domid = map->domid,
		.replace = true,
	};
	struct array_chunk *chunk;
	int rc = 0;

	if (!r.vma)
		return -EINVAL;
	if (!area_of(r.vma)) {
		rc = area_create(r.vma);
		if (rc)
			return rc;
	}
	list_for_each_entry(chunk, chunks, link) {
		r.frames = array_chunk_frames(chunk);
		r.errors = chunk->results;
		r.nr = chunk->nr;
		rc = area_map(&r);
		if (rc)
			break;
		r.addr += r.nr * PAGE_SIZE;
	}
	if (r.stale)
		remap_flush(r.vma->vm_mm, map->addr, map->num);
	*failed = r.failed;
	return rc;
}

static int write_errors(const struct xenferry_map *map, struct list_head *chunks)
{
	s32 __user *to = u64_to_user_ptr(map->errors);
	struct array_chunk *chunk;

	list_for_each_entry(chunk, chunks, link) {
		if (copy_to_user(to, chunk->results, chunk->nr * sizeof(*to)))
			return -EFAULT;
		to += chunk->nr;
	}
	return 0;
}

static bool map_is_valid(const struct xenferry_map *map)
{
	return !map->flags && !map->reserved[0] && !map->reserved[1] &&
	       map->num >= 1 && map->num <= WINDOW_MAX_FRAMES &&
	       map->domid <= U16_MAX && PAGE_ALIGNED(map->addr);
}

static long window_map(const struct xenferry_map *map, unsigned long *failed)
{
	struct user_array array = {
		.from = u64_to_user_ptr(map->frames),
		.nr = map->num,
		.size = sizeof(u64),
		.results = true,
	};
	LIST_HEAD(chunks);
	int rc;

	rc = user_array_read(&chunks, &array);
	if (rc)
		goto out;
	rc = -EINTR;
	if (mmap_write_lock_killable(current->mm))
		goto out;
	rc = replace_frames(map, &chunks, failed);
	mmap_write_unlock(current->mm);
	if (!rc)
		rc = write_errors(map, &chunks);
out:
	user_array_free(&chunks);
	return rc;
}

long window_map_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct xenferry_map __user *to = arg;
	struct xenferry_map map;
	unsigned long failed = 0;
	long rc;

	if (copy_from_user(&map, arg, sizeof(map)))
		return -EFAULT;
	if (!map_is_valid(&map))
		return -EINVAL;
	if (!privcmd_may_touch(pf, map.domid))
		return -EPERM;
	rc = window_map(&map, &failed);
	return rc ?: put_user((u32)failed, &to->failed);
}

long window_clear_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct xenferry_clear clear;
	struct vm_area_struct *vma;
	int rc = 0;

	if (copy_from_user(&clear, arg, sizeof(clear)))
		return -EFAULT;
	if (clear.flags || clear.reserved[0] || clear.reserved[1] ||
	    clear.num < 1 || clear.num > WINDOW_MAX_FRAMES ||
	    !PAGE_ALIGNED(clear.addr))
		return -EINVAL;

	if (mmap_write_lock_killable(current->mm))
		return -EINTR;
	vma = window_vma(clear.addr, clear.num);
	if (vma)
		area_clear(vma, clear.addr, clear.num);
	else
		rc = -EINVAL;
	mmap_write_unlock(current->mm);
	return rc;
}
