/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch.h"

#include <string.h>

/* 16 bytes at once: what every x86-64 has; the compiler makes it SSE2. */
typedef uint64_t chunk __attribute__((vector_size(16), may_alias));

#define CHUNKS (XCBATCH_PAGE_SIZE / sizeof(chunk))
#define STEP   32

int xcbatch_page_is_zero(const void *page)
{
	const chunk *c = page;

	/* Most pages that aren't zero show it in their first bytes: look every 512, which costs little more than once. */
	for (size_t i = 0; i < CHUNKS; i += STEP) {
		chunk any = c[i], other = c[i + 1];

#pragma GCC unroll 16
		for (size_t j = 2; j < STEP; j += 2) {
			any |= c[i + j];
			other |= c[i + j + 1];
		}
		any |= other;
		if (any[0] | any[1])
			return 0;
	}
	return 1;
}

void xcbatch_page_copy(void *to, const void *from, size_t pages)
{
	memcpy(to, from, pages << XCBATCH_PAGE_SHIFT);
}
