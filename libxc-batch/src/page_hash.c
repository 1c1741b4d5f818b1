/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "page_hash_inline.h"

struct page_hash page_hash_any(const void *page, const void *secret)
{
	return page_hash_inline(page, secret);
}

page_hash_fn page_hash_best(void)
{
	return __builtin_cpu_supports("avx2") ? page_hash_avx2 : page_hash_any;
}
