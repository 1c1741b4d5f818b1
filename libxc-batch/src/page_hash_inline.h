/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The body of each page_hash_*: compiled for what its file is compiled for. */
#ifndef PAGE_HASH_INLINE_H
#define PAGE_HASH_INLINE_H

#define XXH_INLINE_ALL	/* its vectors are those of the including file, and no library is needed at run time */
#include <xxhash.h>

#include "page_hash.h"
#include "xcbatch.h"

_Static_assert(PAGE_HASH_SECRET >= XXH3_SECRET_SIZE_MIN, "XXH3 takes no shorter secret");

static inline struct page_hash page_hash_inline(const void *page, const void *secret)
{
	XXH128_hash_t h = XXH3_128bits_withSecret(page, XCBATCH_PAGE_SIZE, secret, PAGE_HASH_SECRET);

	return (struct page_hash) { h.low64, h.high64 };
}

#endif
