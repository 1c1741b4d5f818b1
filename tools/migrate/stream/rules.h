/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which record may come when. A pure state machine: no memory, no I/O; the
 * reader and the writer both ask it, so we don't write what we would refuse.
 */
#ifndef XENFERRY_STREAM_RULES_H
#define XENFERRY_STREAM_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "stream/error.h"
#include "stream/wire.h"

enum xf_stream_kind {
	XF_STREAM_PLAIN,
	XF_STREAM_CHECKPOINTED,	/* Remus, COLO */
};

struct xf_rules {
	enum xf_stream_kind kind;
	uint32_t version;
	uint32_t guest;		/* XF_GUEST_* */
	uint64_t record;	/* number of the record looked at, from 1 */
	uint64_t offset;	/* of its header, bytes from the start of the input */
	uint32_t seen;		/* bit for each mandatory type that has passed */
};

void xf_rules_init(struct xf_rules *r, enum xf_stream_kind kind, uint32_t version, uint32_t guest);

enum { XF_RECORD_TAKE = 0, XF_RECORD_SKIP = 1 };

/*
 * A record of this type and length comes at byte offset. Returns
 * XF_RECORD_TAKE, XF_RECORD_SKIP (optional and unknown), or -EPROTO with the
 * sentence in e; then the state is as it was, but for record and offset.
 */
int xf_rules_record(struct xf_rules *r, uint32_t type, uint32_t length, uint64_t offset,
		    struct xf_error *e);

/* Checks what a whole body says against its length: 0 or -EPROTO. Not for PAGE_DATA. */
int xf_rules_body(const struct xf_rules *r, uint32_t type, const void *body, size_t length,
		  struct xf_error *e);

/* A refusal of the record the rules looked at last: place, what's wrong, what to do. */
int xf_rules_refuse(const struct xf_rules *r, uint32_t type, struct xf_error *e,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* What each refusal ends with. */
#define XF_ADVICE_DAMAGED "the stream is damaged or its writer is at fault, so save or send the guest again"
#define XF_ADVICE_CUT	  "the file or the connection was cut short, so save or send the guest again"

#endif
