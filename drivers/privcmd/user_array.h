/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_PRIVCMD_USER_ARRAY_H
#define XENFERRY_PRIVCMD_USER_ARRAY_H

#include <linux/list.h>
#include <linux/types.h>

#include <xen/interface/xen.h>

/* Part of an array read from user space; the parts are small, whatever its length. */
struct array_chunk {
	struct list_head link;
	unsigned int nr;	/* elements in it */
	bool cached;		/* where its memory is from */
	s32 *results;		/* one an element, zero at first; only if asked for */
	u64 data[];		/* the elements */
};

#define ARRAY_CHUNK_MAX 1024

struct user_array {
	const void __user *from;
	unsigned long nr;
	unsigned int size;	/* of an element, in bytes */
	bool results;
};

int user_array_start(void);
void user_array_stop(void);

int user_array_read(struct list_head *chunks, const struct user_array *array);
int user_array_probe(const struct user_array *array);
void user_array_free(struct list_head *chunks);

static inline xen_pfn_t *array_chunk_frames(struct array_chunk *chunk)
{
	BUILD_BUG_ON(sizeof(xen_pfn_t) != sizeof(u64));
	return (xen_pfn_t *)chunk->data;
}

#endif
