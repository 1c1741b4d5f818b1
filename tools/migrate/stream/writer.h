/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a libxc stream onto a transport. Every call returns 0 or a negative
 * errno, with the sentence in xf_writer_error; after an error all fail alike.
 * -EINVAL: the caller asked for something the stream's rules forbid.
 */
#ifndef XENFERRY_STREAM_WRITER_H
#define XENFERRY_STREAM_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "stream/error.h"
#include "stream/rules.h"
#include "stream/wire.h"
#include "transport/transport.h"

struct xf_writer;

/* version: 2 or 3. The transport stays the caller's and must outlive the writer. */
int  xf_writer_open(struct xf_writer **out, struct xf_transport *t, uint32_t version,
		    enum xf_stream_kind kind);
void xf_writer_close(struct xf_writer *w); /* NULL is allowed */
const struct xf_error *xf_writer_error(const struct xf_writer *w);

/*
 * From now on what fits into so many bytes waits and goes out in one write: with
 * the first record that doesn't fit, with END, or when it is flushed. Each write wakes
 * the receiver, which may need the processor that we are on. Once. -ENOMEM.
 */
int xf_writer_gather(struct xf_writer *w, size_t room);
int xf_writer_flush(struct xf_writer *w);
/* Bytes of the stream so far, those that wait included. */
uint64_t xf_writer_position(const struct xf_writer *w);

/* guest: XF_GUEST_*; the Xen it ran under. First call. */
int xf_writer_headers(struct xf_writer *w, uint32_t guest, uint32_t xen_major, uint32_t xen_minor);

/* A record whose body is those n pieces; the padding is added. Not for PAGE_DATA. */
int xf_writer_record(struct xf_writer *w, uint32_t type, const struct iovec *iov, size_t n);
/* The same from one buffer; NULL, 0 for the empty ones. */
int xf_writer_blob(struct xf_writer *w, uint32_t type, const void *body, size_t length);

/*
 * One PAGE_DATA record: count words (xf_page_word), at most
 * XF_RECORD_PAGES_MAX, and the contents of those whose type has data, in
 * order, in n pieces that sum up to exactly them. Goes out in large vectored
 * writes straight from the pieces.
 */
int xf_writer_pages(struct xf_writer *w, const uint64_t *words, uint32_t count,
		    const struct iovec *pages, size_t n);

#endif
