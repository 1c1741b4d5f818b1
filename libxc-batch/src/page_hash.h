/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hash of a page: XXH3, 128 bits, keyed by a secret. */
#ifndef PAGE_HASH_H
#define PAGE_HASH_H

#include <stdint.h>

#define PAGE_HASH_SECRET 192	/* bytes, random ones */

struct page_hash {
	uint64_t low, high;
};

typedef struct page_hash (*page_hash_fn)(const void *page, const void *secret);

/* The same result from either; the second needs a processor with AVX2. */
struct page_hash page_hash_any(const void *page, const void *secret);
struct page_hash page_hash_avx2(const void *page, const void *secret);

/* The quickest that this processor can do. */
page_hash_fn page_hash_best(void);

#endif
