/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions: what is known of a guest's virtual pages, in stretches that don't
 * overlap, sorted by their first page. A stretch is one table's 512 pages, each
 * with a frame of its own, or one large page, whose frames follow each other.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include <stddef.h>
#include <stdint.h>

#define REGION_TABLE_PAGES 512u
/* Tables' worth of frames: 4 MiB at most, enough for the P2M list of a guest of 1 TiB. */
#define REGIONS_MAX 1024u

struct region {
	uint64_t first;		/* page number: virtual address >> 12 */
	uint64_t pages;
	uint64_t frame;		/* of a large page: the first */
	uint64_t *frames;	/* of a table: REGION_TABLE_PAGES of them; NULL for a large page */
};

struct regions {
	struct region *sorted;
	size_t n;
	size_t room;
	size_t last;		/* where the last hit was */
};

/* The region that holds a page, NULL if none; it stays valid until the next put or drop. */
const struct region *regions_find(struct regions *r, uint64_t page);

/*
 * Puts a region in place of all that overlap it, and takes over its frames: they
 * are freed if that fails (-ENOMEM). Where the regions are full, all others go.
 */
int regions_put(struct regions *r, const struct region *region);

/* Drops every region that overlaps [first, first + pages), in one pass. */
void regions_drop(struct regions *r, uint64_t first, uint64_t pages);

void regions_free(struct regions *r);

#endif
