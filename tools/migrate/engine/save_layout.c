// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the guest's memory lies. Most frames below its highest one are holes: a
 * PVH guest of 512 MiB has its last pages just below 4 GiB. Xen says of each
 * frame what it is, which takes longer than to send the memory; it also says
 * how many pages there are. So memory is looked for from both ends, where it
 * is, and what is left when all of it is found are holes.
 */
#include <xcbatch.h>

#include "engine/save_internal.h"

static void clear_one(uint64_t *map, const uint64_t *but, uint64_t at)
{
	if (!xcbatch_bitmap_test(but, at))
		xcbatch_bitmap_clear(map, at);
}

static void clear_range(uint64_t *map, const uint64_t *but, uint64_t from, uint64_t to)
{
	for (; from < to && from % 64; from++)
		clear_one(map, but, from);
	for (; from + 64 <= to; from += 64)
		map[from / 64] &= but[from / 64];
	for (; from < to; from++)
		clear_one(map, but, from);
}

int save_find_memory(struct save *s)
{
	uint64_t low = 0, high = s->info.frames, found_all = 0;
	bool upwards = true;
	int rc = 0;

	while (!rc && low < high && found_all != s->held) {
		size_t n = high - low < GUEST_BATCH ? (size_t)(high - low) : GUEST_BATCH, found;

		rc = batch_look(s->batch, upwards ? low : high - n, n, s->dirty, &found, s->err);
		if (!rc)
			rc = save_watch_memory(s);
		if (upwards)
			low += n;
		else
			high -= n;
		found_all += found;
		if (!found)
			upwards = !upwards;
	}
	if (rc)
		return rc;
	/* What was memory and is none now must be told of. */
	clear_range(s->dirty, s->batch->ram, low, high);
	s->batch->looked = true;
	return 0;
}
