/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes over a connection once both sides have greeted each other: frames,
 * each a head of fixed size and at most one block of contents. docs/transport.md
 * has the format. Every head is hostile until xf_frame_decode has seen it.
 */
#ifndef XENFERRY_NET_FRAME_H
#define XENFERRY_NET_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "stream/error.h"

#define XF_BLOCK      (256u << 10)	/* most a frame carries, before compression */
#define XF_FRAME_HEAD 24u
#define XF_CHANNELS   2u		/* 0: input or output, 1: error output */

enum xf_frame_type {
	XF_FRAME_DATA = 1,	/* contents of a channel */
	XF_FRAME_EOF = 2,	/* a channel ends */
	XF_FRAME_EXIT = 3,	/* the command ended; nothing comes behind it */
	XF_FRAME_PING = 4,	/* "I am there" */
	XF_FRAME_BYE = 5,	/* this connection ends, on purpose */
};

enum xf_codec {
	XF_CODEC_NONE = 0,
	XF_CODEC_LZ4 = 1,
	XF_CODEC_ZSTD = 2,
	XF_CODECS,
};

struct xf_frame {
	uint8_t type;
	uint8_t codec;		/* of DATA */
	uint8_t channel;	/* of DATA and EOF */
	uint32_t wire_len;	/* bytes behind the head */
	uint32_t raw_len;	/* what they are once decompressed; of EXIT: the status */
	uint64_t seq;		/* of DATA, EOF and EXIT: their order over all connections */
};

/* DATA, EOF and EXIT are delivered in order. */
int xf_frame_is_ordered(const struct xf_frame *f);
void xf_frame_encode(const struct xf_frame *f, uint8_t head[XF_FRAME_HEAD]);
/* codecs: a bit for each one agreed on. 0 or -EPROTO, with the sentence. */
int xf_frame_decode(const uint8_t head[XF_FRAME_HEAD], uint32_t codecs, struct xf_frame *f,
		    struct xf_error *e);

#endif
