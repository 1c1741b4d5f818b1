// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/extents.h"

static bool is_large(const uint64_t *gfns, size_t n)
{
	if (n < EXTENT_FRAMES || gfns[0] % EXTENT_FRAMES)
		return false;
	for (size_t i = 1; i < EXTENT_FRAMES; i++)
		if (gfns[i] != gfns[0] + i)
			return false;
	return true;
}

size_t extents_next(const uint64_t *gfns, size_t n, bool *large)
{
	size_t at = 0;

	*large = is_large(gfns, n);
	if (*large) {
		do
			at += EXTENT_FRAMES;
		while (is_large(gfns + at, n - at));
		return at;
	}
	while (at < n && !is_large(gfns + at, n - at))
		at++;
	return at;
}
