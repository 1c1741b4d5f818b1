/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks a saved stream and checks it: xl's save file, the libxl stream in it,
 * the libxc stream in that; or a bare libxl or libxc stream. It trusts
 * nothing, its memory is bounded, and it prints nothing: what it finds goes to
 * a sink.
 */
#ifndef XENFERRY_INSPECT_H
#define XENFERRY_INSPECT_H

#include <stddef.h>
#include <stdint.h>

#include "stream/error.h"
#include "stream/wire.h"
#include "transport/transport.h"

/* The configuration in a save file is looked into up to this size. */
#define XF_CONFIG_MAX (1u << 20)

struct xf_inspect_item {
	const char *layer;	/* "xl", "libxl" or "libxc" */
	const char *name;	/* "Image header", "PAGE_DATA" ... */
	uint64_t number;	/* of the record in its layer, from 1; 0: a header */
	uint32_t type;		/* of the record */
	uint32_t length;	/* of its body */
	uint64_t offset;	/* in the file */
	int skipped;		/* unknown, optional: a reader ignores it */
	uint32_t pages;		/* PAGE_DATA: entries, */
	uint32_t with_data;	/* those with contents, */
	uint32_t zero;		/* those whose contents are zero */
	char detail[160];	/* what's in it, "" if there is no more to say */
};

struct xf_inspect_sink {
	void (*item)(void *ctx, const struct xf_inspect_item *item);
	void (*progress)(void *ctx, uint64_t bytes);	/* often; may be NULL */
	void *ctx;
};

struct xf_inspect_summary {
	uint32_t version;	/* of the libxc stream, 0: none was reached */
	uint32_t guest;		/* XF_GUEST_* */
	uint32_t xen_major;
	uint32_t xen_minor;
	uint64_t bytes;		/* read */
	uint64_t records;	/* of the libxc stream */
	uint64_t page_records;
	uint64_t pages;		/* entries of PAGE_DATA records before a verify pass */
	uint64_t with_data;
	uint64_t zero;
	uint64_t verify_pages;	/* entries after VERIFY */
	uint64_t types[XF_PAGE_TYPES];
	uint64_t max_pfn;
	uint64_t skipped;	/* unknown optional records, all layers */
};

/* 0, or a negative errno as of the stream reader with the sentence in e. */
int xf_inspect(struct xf_transport *t, const struct xf_inspect_sink *sink,
	       struct xf_inspect_summary *sum, struct xf_error *e);

#endif
