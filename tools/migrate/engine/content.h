/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dirty tracking by content: a page is dirty when it doesn't hash to what was
 * sent of it. All of memory is looked at for that, by several threads.
 */
#ifndef XENFERRY_CONTENT_H
#define XENFERRY_CONTENT_H

#include <stdbool.h>
#include <stdint.h>
#include <xcbatch.h>

#include "engine/report.h"
#include "guest/guest.h"
#include "stream/error.h"

struct content_scan {
	/* Set by the owner. */
	struct guest *guest;
	const struct xcbatch_content *sent;
	const uint64_t *ram;	/* bitmap: where memory is */
	uint64_t *map;		/* bitmap: what to look at; those that are as they were sent are cleared */
	uint64_t frames;	/* of both */
	unsigned threads;	/* 1 to GUEST_LANES; fewer where no more are to be had */
	const struct report *report;
	uint64_t of;		/* pages to look at, for the progress */

	/* Found. */
	uint64_t looked;	/* pages */
	bool gone;		/* some of what was memory is none now */
	double seconds;
};

/* How many threads where nobody says: as many as processors, up to 8. */
unsigned content_threads(void);

/*
 * What is in `map` but not in `ram` stays: it is a hole that was memory, to be
 * told. So do pages that can't be mapped, typed or normalised now.
 */
int content_scan(struct content_scan *scan, struct xf_error *err);

#endif
