/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a libxc stream from a transport and trusts nothing in it. Every call
 * returns 0 or a negative errno with the sentence in xf_reader_error:
 *   -EPROTO    refused: what was found, what was expected, where
 *   -ENODATA   the input ends where more was due
 *   -EINVAL    the caller's mistake
 *   other      the transport's error, or -ENOMEM
 * After an error all calls fail alike. Memory: the pages of one record's list
 * (XF_RECORD_PAGES_MAX words) and one fixed buffer, whatever the stream claims.
 */
#ifndef XENFERRY_STREAM_READER_H
#define XENFERRY_STREAM_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "stream/error.h"
#include "stream/limits.h"
#include "stream/rules.h"
#include "stream/wire.h"
#include "transport/transport.h"

struct xf_reader;

/* The transport stays the caller's and must outlive the reader. */
int  xf_reader_open(struct xf_reader **out, struct xf_transport *t, enum xf_stream_kind kind);
void xf_reader_close(struct xf_reader *r); /* NULL is allowed */
const struct xf_error *xf_reader_error(const struct xf_reader *r);

struct xf_stream_info {
	uint32_t version;	/* 2 or 3 */
	uint32_t guest;		/* XF_GUEST_* */
	uint32_t xen_major;	/* 0: converted from a legacy stream by */
	uint32_t xen_minor;	/*    this version of the converter */
};
/* First call. */
int xf_reader_headers(struct xf_reader *r, struct xf_stream_info *info);

/* Pfns must be below this (at most, and by default, XF_PFN_LIMIT). -EINVAL: 0 or above. */
int xf_reader_set_pfn_limit(struct xf_reader *r, uint64_t limit);

struct xf_record {
	uint32_t type;
	uint32_t length;	/* of the body; checked against the type's limits */
	int skip;		/* unknown and optional: to be ignored */
	uint64_t number;	/* from 1 */
	uint64_t offset;	/* of its header in what the transport has read */
};
/*
 * The next record's header, checked against the order rules. What is left of
 * the body before it is dropped. The last record is END; asking on is -EINVAL.
 */
int xf_reader_next(struct xf_reader *r, struct xf_record *rec);

/*
 * The whole body into a buffer of at least `length` bytes; its inner counts are
 * checked against its length. Not for PAGE_DATA.
 */
int xf_reader_body(struct xf_reader *r, void *buf, size_t room);

/* ---- PAGE_DATA, instead of xf_reader_body ------------------------------- */

struct xf_page_list {
	const uint64_t *words;	/* the reader's, until the next xf_reader_next; types and pfns checked */
	uint32_t count;
	uint32_t with_data;	/* how many of them have contents in the record */
};
int xf_reader_pages(struct xf_reader *r, struct xf_page_list *list);

/*
 * Reads contents straight into n pieces: a whole number of pages, no more than
 * are left; in as many calls as the caller likes. What isn't read is dropped
 * by xf_reader_next.
 */
int xf_reader_page_data(struct xf_reader *r, const struct iovec *iov, size_t n);

#endif
