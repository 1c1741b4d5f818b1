// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays in user memory, of any claimed length. They are read whole before
 * mmap_lock is taken (reading may fault, which takes the lock), in chunks that
 * are allocated as the reading gets on: a length that the memory behind it
 * doesn't hold costs no more than what could be read.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <xen/xenferry_inject.h>

#include "user_array.h"

/*
 * Chunks of frames, the larger ones, have a cache of their own, with a
 * constructor: so they are not cleared before they are filled.
 */
#define CACHED_MIN 64
#define CACHED_SIZE (sizeof(struct array_chunk) + \
		     ARRAY_CHUNK_MAX * (sizeof(u64) + sizeof(s32)))

static struct kmem_cache *cache;

static void construct(void *object)
{
}

int user_array_start(void)
{
	cache = kmem_cache_create_usercopy("xenferry_chunk", CACHED_SIZE, 0, 0, 0,
					   CACHED_SIZE, construct);
	return cache ? 0 : -ENOMEM;
}

void user_array_stop(void)
{
	kmem_cache_destroy(cache);
}

static struct array_chunk *chunk_alloc(const struct user_array *array,
				       unsigned int nr)
{
	size_t elements = (size_t)nr * array->size;
	size_t results = array->results ? nr * sizeof(s32) : 0;
	bool cached = nr >= CACHED_MIN && array->size == sizeof(u64);
	struct array_chunk *chunk;

	BUILD_BUG_ON(sizeof(u64) % sizeof(s32));
	chunk = may_lack(cached ? kmem_cache_alloc(cache, GFP_KERNEL) :
		kvmalloc(sizeof(*chunk) + elements + results, GFP_KERNEL));
	if (!chunk)
		return NULL;
	chunk->cached = cached;
	chunk->nr = nr;
	chunk->results = NULL;
	if (results) {
		chunk->results = (void *)chunk->data + elements;
		memset(chunk->results, 0, results);
	}
	return chunk;
}

static int chunk_fill(struct array_chunk *chunk, const struct user_array *array,
		      unsigned long first)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	if (copy_from_user(chunk->data, array->from + first * array->size,
			   (size_t)chunk->nr * array->size))
		return -EFAULT;
	return 0;
}

static void chunk_free(struct array_chunk *chunk)
{
	if (chunk->cached)
		kmem_cache_free(cache, chunk);
	else
		kvfree(chunk);
}

/* On failure too, the caller frees what is on the list. */
int user_array_read(struct list_head *chunks, const struct user_array *array)
{
	unsigned long at;
	int rc;

	for (at = 0; at < array->nr; at += ARRAY_CHUNK_MAX) {
		struct array_chunk *chunk =
			chunk_alloc(array, min_t(unsigned long, ARRAY_CHUNK_MAX,
						 array->nr - at));

		if (!chunk)
			return -ENOMEM;
		list_add_tail(&chunk->link, chunks);
		rc = chunk_fill(chunk, array, at);
		if (rc)
			return rc;
		cond_resched();
	}
	return 0;
}

/* Only says whether the array can be read: 0, EFAULT, ENOMEM or EINTR. */
int user_array_probe(const struct user_array *array)
{
	struct array_chunk *chunk = chunk_alloc(array, ARRAY_CHUNK_MAX);
	unsigned long at;
	int rc = 0;

	if (!chunk)
		return -ENOMEM;
	for (at = 0; !rc && at < array->nr; at += ARRAY_CHUNK_MAX) {
		chunk->nr = min_t(unsigned long, ARRAY_CHUNK_MAX, array->nr - at);
		rc = chunk_fill(chunk, array, at);
		cond_resched();
	}
	chunk_free(chunk);
	return rc;
}

void user_array_free(struct list_head *chunks)
{
	struct array_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, chunks, link)
		chunk_free(chunk);
	INIT_LIST_HEAD(chunks);
}
