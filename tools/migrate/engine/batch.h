/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages on their way out: gathered, mapped together, sent as one record. */
#ifndef XENFERRY_BATCH_H
#define XENFERRY_BATCH_H

#include <stdbool.h>
#include <sys/uio.h>

#include "guest/guest.h"
#include "stream/error.h"
#include "stream/writer.h"

struct batch {
	/* Set by the owner. */
	struct guest *guest;
	struct xf_writer *writer;
	uint64_t *deferred;	/* bitmap: pages to be sent with the last copy */
	bool running;		/* the guest runs: a page that can't be mapped is deferred, not an error */
	bool fresh;		/* nothing was sent before: holes need not be mentioned */
	bool count_zeroes;

	/* Counted here, over all records. */
	uint64_t pages;		/* with contents */
	uint64_t zero_pages;	/* of those, if count_zeroes */

	size_t n;
	uint64_t pfns[GUEST_BATCH];
	uint8_t types[GUEST_BATCH];
	uint64_t gfns[GUEST_BATCH];	/* of those with contents */
	int errs[GUEST_BATCH];
	uint64_t words[GUEST_BATCH];
	struct iovec runs[GUEST_BATCH];
};

/* Sends the batch first if it is full. */
int batch_add(struct batch *b, uint64_t pfn, struct xf_error *err);
/* Sends what has been gathered, if anything. */
int batch_flush(struct batch *b, struct xf_error *err);

#endif
