/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages on their way out: gathered, mapped together, sent as one record. */
#ifndef XENFERRY_BATCH_H
#define XENFERRY_BATCH_H

#include <stdbool.h>
#include <sys/uio.h>

#include "engine/pace.h"
#include "engine/spent.h"
#include "guest/guest.h"
#include "stream/error.h"
#include "stream/writer.h"

struct batch {
	/* Set by the owner. */
	struct guest *guest;
	struct xf_writer *writer;
	const struct xf_transport *out;	/* what the writer writes to */
	struct pace pace;	/* kept to while the guest runs */
	uint64_t *deferred;	/* bitmap: pages to be sent with the last copy */
	uint64_t *ram;		/* bitmap, kept here: pages that had contents when their types were asked */
	bool distrust;		/* ask about every page, whatever it was before */
	bool looked;		/* batch_look has gone over all of memory: fresh pages need no second question */
	bool running;		/* the guest runs: a page that can't be mapped is deferred, not an error */
	bool fresh;		/* nothing was sent before: holes need not be mentioned */
	bool count_zeroes;
	bool elide_zeroes;	/* while fresh: no contents for pages of zeroes, the receiver sees to it */
	struct xcbatch_content *sent;	/* not NULL: what is sent while the guest runs is noted there */

	/* Counted here, over all records. */
	uint64_t pages;		/* with contents */
	uint64_t zero_pages;	/* if they are counted or elided: pages of zeroes, sent or not */
	bool gone;		/* memory was none any more when it was to be mapped */
	uint64_t elided;	/* pages of zeroes that went without contents */
	struct spent spent;

	size_t n;
	uint64_t pfns[GUEST_BATCH];
	uint8_t types[GUEST_BATCH];
	uint8_t asked[GUEST_BATCH];	/* the answers for gfns */
	uint64_t gfns[GUEST_BATCH];	/* of those to ask about, then of those to map */
	int errs[GUEST_BATCH];
	uint64_t words[GUEST_BATCH];
	struct iovec runs[GUEST_BATCH];
	char *copies;		/* GUEST_BATCH pages, for those that don't go out as they lie in memory; else NULL */
};

/* What the batch allocated for itself; not what its owner set. */
void batch_release(struct batch *b);

/*
 * Asks for the types of pfns from .. from + n - 1 (n up to GUEST_BATCH) ahead of sending them,
 * and clears in `map` those that are holes and always were. *found: how many have contents.
 */
int batch_look(struct batch *b, uint64_t from, size_t n, uint64_t *map, size_t *found,
	       struct xf_error *err);
/* Sends the batch first if it is full, or full enough at the end of a large page. */
int batch_add(struct batch *b, uint64_t pfn, struct xf_error *err);
/* Sends what has been gathered, if anything. */
int batch_flush(struct batch *b, struct xf_error *err);

#endif
