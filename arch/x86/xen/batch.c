// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for the entries of a hypercall. Large ones have a cache of their own:
 * it is given back when memory is short, and with a constructor its objects
 * are not cleared each time, which would cost more than filling them.
 */
#include <linux/slab.h>

#include <xen/xenferry_inject.h>

#include "remap.h"

/* Up to here, memory comes from the kernel's general caches. */
#define SMALL 128

static struct kmem_cache *cache;

static void construct(void *object)
{
}

int remap_start(void)
{
	cache = kmem_cache_create("xenferry_entries",
				  REMAP_BATCH_MAX * sizeof(struct mmu_update),
				  0, 0, construct);
	return cache ? 0 : -ENOMEM;
}

void remap_stop(void)
{
	kmem_cache_destroy(cache);
}

int remap_batch_init(struct remap_batch *batch, unsigned long nr)
{
	batch->room = min_t(unsigned long, nr, REMAP_BATCH_MAX);
	batch->cached = batch->room > SMALL;
	batch->entry = may_lack(batch->cached ?
		kmem_cache_alloc(cache, GFP_KERNEL) :
		kmalloc_array(batch->room, sizeof(*batch->entry), GFP_KERNEL));
	return batch->entry ? 0 : -ENOMEM;
}

void remap_batch_free(struct remap_batch *batch)
{
	if (batch->cached && batch->entry)
		kmem_cache_free(cache, batch->entry);
	else
		kfree(batch->entry);
	batch->entry = NULL;
}
