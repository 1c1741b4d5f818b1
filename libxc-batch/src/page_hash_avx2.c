/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled with -mavx2: called only where page_hash_best says so. */
#include "page_hash_inline.h"

struct page_hash page_hash_avx2(const void *page, const void *secret)
{
	return page_hash_inline(page, secret);
}
