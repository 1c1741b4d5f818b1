/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stock_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "paging.h"

enum slot_place {
	PLACE_RESERVED = 0,	/* no mapping of the device here */
	PLACE_BEGINS,		/* first slot of a mapping of the device */
	PLACE_GOES_ON,		/* a further slot of the same */
};

struct stock_slots {
	size_t frames;
	uint64_t *gfn;		/* last asked for */
	uint8_t *place;		/* enum slot_place */
	uint8_t *holds;		/* gfn is mapped */
};

int stock_slots_create(size_t frames, struct stock_slots **out)
{
	struct stock_slots *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->frames = frames;
	s->gfn = calloc(frames, sizeof(*s->gfn));
	s->place = calloc(frames, sizeof(*s->place));
	s->holds = calloc(frames, sizeof(*s->holds));
	if (!s->gfn || !s->place || !s->holds) {
		stock_slots_free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void stock_slots_free(struct stock_slots *s)
{
	if (!s)
		return;
	free(s->gfn);
	free(s->place);
	free(s->holds);
	free(s);
}

static void now_reserved(struct stock_slots *s, size_t begin, size_t end)
{
	memset(s->place + begin, PLACE_RESERVED, end - begin);
	memset(s->holds + begin, 0, end - begin);
}

static void now_device(struct stock_slots *s, size_t begin, size_t end)
{
	memset(s->place + begin, PLACE_GOES_ON, end - begin);
	memset(s->holds + begin, 0, end - begin);
	s->place[begin] = PLACE_BEGINS;
}

/*
 * The kernel refuses a MAP_FIXED before it has touched what is there, save
 * where it runs out of memory for its own bookkeeping between taking away and
 * putting in. So: fill the hole if there is one, else all is as it was.
 */
static void after_refusal(struct xcbatch_window *w, size_t begin, size_t end)
{
	if (os_privcmd_reserve_hole(slot_addr(w, begin), end - begin) == 0)
		now_reserved(w->stock, begin, end);
}

/* [begin, end) must not cut a mapping of the device. */
static int make_reserved(struct xcbatch_window *w, size_t begin, size_t end)
{
	int rc = os_privcmd_reserve_at(slot_addr(w, begin), end - begin);

	if (rc < 0)
		after_refusal(w, begin, end);
	else
		now_reserved(w->stock, begin, end);
	return rc;
}

/* [begin, end) must not cut a mapping of the device. */
static int make_device(struct xcbatch_window *w, size_t begin, size_t end)
{
	int rc = os_privcmd_device_at(&w->xb->os, slot_addr(w, begin), end - begin, w->prot);

	if (rc < 0)
		after_refusal(w, begin, end);
	else
		now_device(w->stock, begin, end);
	return rc;
}

/* Maps [begin, end) afresh; held[] says which frames must be there again. */
static int map_rest(struct xcbatch_window *w, size_t begin, size_t end,
		    const uint8_t *held, int *errs)
{
	struct stock_slots *s = w->stock;
	size_t n = end - begin;
	int rc;

	if (n == 0 || !memchr(held, 1, n))
		return 0;
	rc = make_device(w, begin, end);
	if (rc == 0)
		rc = paging_map(&w->xb->os, w->domid, slot_addr(w, begin), s->gfn + begin, n, errs);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		s->holds[begin + i] = errs[i] == 0;
		if (held[i] && errs[i] < 0)
			rc = errs[i];
	}
	return rc;
}

/* Takes [lo, hi) away and maps afresh what of it lies outside [begin, end). */
static int cut_out(struct xcbatch_window *w, size_t lo, size_t begin, size_t end, size_t hi)
{
	uint8_t *held = malloc(hi - lo);
	int *errs = malloc((hi - lo) * sizeof(*errs));
	int rc = -ENOMEM;

	if (!held || !errs)
		goto out;
	memcpy(held, w->stock->holds + lo, hi - lo);
	rc = make_reserved(w, lo, hi);
	if (rc < 0)
		goto out;
	rc = map_rest(w, lo, begin, held, errs);
	if (rc == 0)
		rc = map_rest(w, end, hi, held + (end - lo), errs);
	if (rc < 0) {
		make_reserved(w, lo, hi);
		rc = -ESTALE;
	}
out:
	free(held);
	free(errs);
	return rc;
}

/* Afterwards no mapping of the device lies across the ends of [begin, end). */
static int make_ends_clean(struct xcbatch_window *w, size_t begin, size_t end)
{
	struct stock_slots *s = w->stock;
	size_t lo = begin, hi = end;

	while (s->place[lo] == PLACE_GOES_ON)
		lo--;
	while (hi < s->frames && s->place[hi] == PLACE_GOES_ON)
		hi++;
	return lo == begin && hi == end ? 0 : cut_out(w, lo, begin, end, hi);
}

int stock_slots_map(struct xcbatch_window *w, size_t first, const uint64_t *gfns,
		    size_t n, int *errs)
{
	struct stock_slots *s = w->stock;
	int rc = make_ends_clean(w, first, first + n);

	if (rc == 0)
		rc = make_device(w, first, first + n);
	if (rc < 0)
		return rc;
	rc = paging_map(&w->xb->os, w->domid, slot_addr(w, first), gfns, n, errs);
	if (rc < 0) {
		make_reserved(w, first, first + n);
		return rc;
	}
	memcpy(s->gfn + first, gfns, n * sizeof(*gfns));
	for (size_t i = 0; i < n; i++)
		s->holds[first + i] = errs[i] == 0;
	return 0;
}

int stock_slots_clear(struct xcbatch_window *w, size_t first, size_t n)
{
	int rc = make_ends_clean(w, first, first + n);

	return rc < 0 ? rc : make_reserved(w, first, first + n);
}
