/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16u

static int holds(const struct region *region, uint64_t page)
{
	return page >= region->first && page - region->first < region->pages;
}

/* How many regions end at or before a page: the index of the first that does not. */
static size_t ending_before(const struct regions *r, uint64_t page)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->sorted[mid].first + r->sorted[mid].pages <= page)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct region *regions_find(struct regions *r, uint64_t page)
{
	size_t i;

	if (r->last < r->n && holds(&r->sorted[r->last], page))
		return &r->sorted[r->last];
	i = ending_before(r, page);
	if (i == r->n || !holds(&r->sorted[i], page))
		return NULL;
	r->last = i;
	return &r->sorted[i];
}

void regions_drop(struct regions *r, uint64_t first, uint64_t pages)
{
	size_t begin = ending_before(r, first), end = begin;

	if (pages == 0)
		return;
	while (end < r->n && (r->sorted[end].first < first || r->sorted[end].first - first < pages))
		free(r->sorted[end++].frames);
	if (end > begin)
		memmove(r->sorted + begin, r->sorted + end, (r->n - end) * sizeof(*r->sorted));
	r->n -= end - begin;
}

static int make_room(struct regions *r)
{
	size_t room = r->room ? 2 * r->room : ROOM_FIRST;
	struct region *grown;

	if (r->n == REGIONS_MAX)
		regions_drop(r, 0, UINT64_MAX);
	if (r->n < r->room)
		return 0;
	grown = realloc(r->sorted, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->sorted = grown;
	r->room = room;
	return 0;
}

int regions_put(struct regions *r, const struct region *region)
{
	size_t at;
	int rc;

	regions_drop(r, region->first, region->pages);
	rc = make_room(r);
	if (rc < 0) {
		free(region->frames);
		return rc;
	}
	at = ending_before(r, region->first);
	memmove(r->sorted + at + 1, r->sorted + at, (r->n - at) * sizeof(*r->sorted));
	r->sorted[at] = *region;
	r->n++;
	r->last = at;
	return 0;
}

void regions_free(struct regions *r)
{
	regions_drop(r, 0, UINT64_MAX);
	free(r->sorted);
	memset(r, 0, sizeof(*r));
}
