/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "regions.h"

#define LEVELS		4u	/* four-level page tables; level 1 holds the pages */
#define ENTRIES		512u
#define ENTRY_PRESENT	UINT64_C(0x001)
#define ENTRY_LARGE	UINT64_C(0x080)	/* at levels 2 and 3; at level 1 it means something else */
/* Bits 12 to 51. Those above are the guest's own, or permissions. */
#define ENTRY_FRAME(e)	(((e) >> 12) & FRAME_MASK)
#define FRAME_MASK	((UINT64_C(1) << 40) - 1)
#define NO_FRAME	UINT64_MAX

/* Of page numbers (virtual address >> 12) those between the lower and the upper half are not canonical. */
#define PAGES_HALF	(UINT64_C(1) << 35)
#define PAGES_END	(UINT64_C(1) << 52)

/* Slots of the root table that Xen fills with its own in a PV guest. */
#define XEN_SLOT_FIRST	256u
#define XEN_SLOT_LAST	271u

struct table {
	uint64_t page;		/* the first it covers */
	uint64_t entries[ENTRIES];
	int held;
};

struct xcbatch_space {
	struct xcbatch_space_source src;
	uint64_t root;
	struct regions regions;
	/* The tables above the lowest on the way to the last page walked, for one call's length. */
	struct table upper[LEVELS - 1];
};

/* Pages under one entry of a table of this level. */
static uint64_t entry_pages(unsigned level)
{
	return UINT64_C(1) << (9 * (level - 1));
}

static unsigned entry_slot(uint64_t page, unsigned level)
{
	return (unsigned)(page >> (9 * (level - 1))) % ENTRIES;
}

/*
 * A copy: the guest may change the table at any moment, and the callback may
 * take it away with its next call.
 */
static int read_table(struct xcbatch_space *s, uint64_t frame, uint64_t *copy)
{
	const uint64_t *entries = NULL;
	int rc = s->src.table(s->src.data, frame, &entries);

	if (rc == 0)
		memcpy(copy, entries, ENTRIES * sizeof(*copy));
	return rc;
}

static int put_large(struct xcbatch_space *s, uint64_t page, unsigned level, uint64_t entry)
{
	uint64_t pages = entry_pages(level);
	struct region region = {
		.first = page & ~(pages - 1),
		.pages = pages,
		.frame = ENTRY_FRAME(entry) & ~(pages - 1),
	};

	return regions_put(&s->regions, &region);
}

static int put_table(struct xcbatch_space *s, uint64_t page, uint64_t frame)
{
	struct region region = {
		.first = page & ~(uint64_t)(ENTRIES - 1),
		.pages = ENTRIES,
		.frames = malloc(ENTRIES * sizeof(*region.frames)),
	};
	int rc = region.frames ? read_table(s, frame, region.frames) : -ENOMEM;

	if (rc < 0) {
		free(region.frames);
		return rc;
	}
	for (size_t i = 0; i < ENTRIES; i++)
		region.frames[i] = region.frames[i] & ENTRY_PRESENT ? ENTRY_FRAME(region.frames[i]) : NO_FRAME;
	return regions_put(&s->regions, &region);
}

/* The entry for a page in a table above the lowest, which is read unless this call had it already. */
static int upper_entry(struct xcbatch_space *s, uint64_t page, unsigned level, uint64_t frame, uint64_t *entry)
{
	struct table *t = &s->upper[level - 2];
	uint64_t first = page & ~(entry_pages(level) * ENTRIES - 1);
	int rc;

	if (!t->held || t->page != first) {
		rc = read_table(s, frame, t->entries);
		if (rc < 0)
			return rc;
		t->held = 1;
		t->page = first;
	}
	*entry = t->entries[entry_slot(page, level)];
	return 0;
}

/* Walks to a page and puts what lies around it, a table's pages or a large page, into the regions. */
static int walk(struct xcbatch_space *s, uint64_t page)
{
	uint64_t frame = s->root, entry;
	unsigned slot = entry_slot(page, LEVELS);

	if (slot >= XEN_SLOT_FIRST && slot <= XEN_SLOT_LAST)
		return -EFAULT;
	for (unsigned level = LEVELS; level > 1; level--) {
		int rc = upper_entry(s, page, level, frame, &entry);

		if (rc < 0)
			return rc;
		if (!(entry & ENTRY_PRESENT) || (level == LEVELS && (entry & ENTRY_LARGE)))
			return -EFAULT;
		if (entry & ENTRY_LARGE)
			return put_large(s, page, level, entry);
		frame = ENTRY_FRAME(entry);
	}
	return put_table(s, page, frame);
}

static uint64_t region_frame(const struct region *r, uint64_t page)
{
	return r->frames ? r->frames[page - r->first] : r->frame + (page - r->first);
}

/* That a page is not mapped is never remembered: the guest may have mapped it since. */
static const struct region *known(struct xcbatch_space *s, uint64_t page)
{
	const struct region *r = regions_find(&s->regions, page);

	return r && region_frame(r, page) != NO_FRAME ? r : NULL;
}

/* From page on, as far as one region goes and no hole comes, n at most; *got: how many. */
static int translate_run(struct xcbatch_space *s, uint64_t page, size_t n, uint64_t *frames, size_t *got)
{
	const struct region *r = known(s, page);
	size_t i;

	if (!r) {
		int rc = walk(s, page);

		if (rc < 0)
			return rc;
		r = known(s, page);
		if (!r)
			return -EFAULT;
	}
	for (i = 0; i < n && page + i - r->first < r->pages; i++) {
		uint64_t frame = region_frame(r, page + i);

		if (frame == NO_FRAME)
			break;
		frames[i] = frame;
	}
	*got = i;
	return 0;
}

static int range_canonical(uint64_t page, size_t n)
{
	if (page < PAGES_HALF)
		return n <= PAGES_HALF - page;
	return page >= PAGES_END - PAGES_HALF && n <= PAGES_END - page;
}

int xcbatch_space_open(const struct xcbatch_space_source *src, uint64_t root_frame,
		       struct xcbatch_space **out)
{
	struct xcbatch_space *s;

	if (root_frame > FRAME_MASK)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->src = *src;
	s->root = root_frame;
	*out = s;
	return 0;
}

void xcbatch_space_close(struct xcbatch_space *s)
{
	if (!s)
		return;
	regions_free(&s->regions);
	free(s);
}

int xcbatch_space_translate(struct xcbatch_space *s, uint64_t va, size_t n, uint64_t *frames, size_t *at)
{
	uint64_t page = va >> XCBATCH_PAGE_SHIFT;
	size_t done = 0, got;
	int rc = 0;

	if (!range_canonical(page, n))
		rc = -EINVAL;
	for (size_t i = 0; i < LEVELS - 1; i++)
		s->upper[i].held = 0;
	for (; rc == 0 && done < n; done += got) {
		got = 0;
		rc = translate_run(s, page + done, n - done, frames + done, &got);
	}
	if (rc < 0 && at)
		*at = done;
	return rc;
}

void xcbatch_space_invalidate(struct xcbatch_space *s, uint64_t va, size_t n)
{
	regions_drop(&s->regions, va >> XCBATCH_PAGE_SHIFT, n);
}
