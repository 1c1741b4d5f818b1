/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks made smaller, and whole again. One of these belongs to one thread. */
#ifndef XENFERRY_NET_CODEC_H
#define XENFERRY_NET_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "transport/net/frame.h"

struct xf_codec_state;	/* working memory, so that none is allocated on the way */

/* -ENOMEM. */
int  xf_codec_open(struct xf_codec_state **s);
void xf_codec_close(struct xf_codec_state *s);	/* NULL is fine */

/*
 * The length of what was written to `to`, which has room for len bytes; 0
 * where it would not have become smaller, and with XF_CODEC_NONE.
 */
size_t xf_codec_compress(struct xf_codec_state *s, enum xf_codec codec, void *to, const void *from,
			 size_t len);
/* Exactly raw_len bytes come out, or -EPROTO: the input is hostile. */
int xf_codec_expand(struct xf_codec_state *s, enum xf_codec codec, void *to, size_t raw_len,
		    const void *from, size_t len);

const char *xf_codec_name(enum xf_codec codec);
/* -EINVAL where there is none of that name. */
int xf_codec_by_name(const char *name);

#endif
