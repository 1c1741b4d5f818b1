/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "paging.h"
#include "stock_slots.h"

/* Domain numbers at or above this name no domain (DOMID_INVALID and what follows). */
#define DOMID_END 0x7ff4u

static int create_space(struct xcbatch_window *w)
{
	void *addr = NULL;
	int rc;

	if (w->xb->os.batched) {
		rc = os_privcmd_device(&w->xb->os, w->frames, w->prot, &addr);
	} else {
		rc = stock_slots_create(w->frames, &w->stock);
		if (rc == 0)
			rc = os_privcmd_reserve(w->frames, &addr);
	}
	w->addr = addr;
	return rc;
}

int xcbatch_window_create(struct xcbatch *xb, uint32_t domid, size_t frames,
			  int prot, struct xcbatch_window **out)
{
	struct xcbatch_window *w;
	int rc;

	if (!xb || !out || domid >= DOMID_END || frames == 0 || frames > XCBATCH_WINDOW_MAX ||
	    (prot != XCBATCH_READ && prot != (XCBATCH_READ | XCBATCH_WRITE)))
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->xb = xb;
	w->frames = frames;
	w->domid = domid;
	w->prot = prot;
	w->pid = getpid();
	rc = create_space(w);
	if (rc < 0) {
		stock_slots_free(w->stock);
		free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void xcbatch_window_destroy(struct xcbatch_window *w)
{
	if (!w)
		return;
	/* In a child the mapping isn't there; something else may be. */
	if (w->pid == getpid())
		os_privcmd_release(w->addr, w->frames);
	stock_slots_free(w->stock);
	free(w);
}

void *xcbatch_window_addr(const struct xcbatch_window *w)
{
	return w->addr;
}

size_t xcbatch_window_frames(const struct xcbatch_window *w)
{
	return w->frames;
}

static bool range_ok(const struct xcbatch_window *w, size_t first, size_t n)
{
	return n > 0 && first < w->frames && n <= w->frames - first;
}

static int map_in_place(struct xcbatch_window *w, size_t first, const uint64_t *gfns,
			size_t n, int *errs)
{
	int rc = paging_map(&w->xb->os, w->domid, slot_addr(w, first), gfns, n, errs);

	/* Some frames may be mapped: don't keep hold of them. The first error counts. */
	if (rc < 0)
		os_privcmd_clear(&w->xb->os, slot_addr(w, first), n);
	return rc;
}

int xcbatch_window_map(struct xcbatch_window *w, size_t first,
		       const uint64_t *gfns, size_t n, int *errs)
{
	int rc;

	if (!w || !gfns || !errs || !range_ok(w, first, n))
		return -EINVAL;
	rc = w->stock ? stock_slots_map(w, first, gfns, n, errs)
		      : map_in_place(w, first, gfns, n, errs);
	for (size_t i = 0; rc < 0 && i < n; i++)
		errs[i] = rc;
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (errs[i] < 0)
			return -ENXIO;
	return rc;
}

int xcbatch_window_clear(struct xcbatch_window *w, size_t first, size_t n)
{
	if (!w || !range_ok(w, first, n))
		return -EINVAL;
	return w->stock ? stock_slots_clear(w, first, n)
			: os_privcmd_clear(&w->xb->os, slot_addr(w, first), n);
}
