/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The greeting. First, in clear, a preamble of 32 bytes that lets the listener
 * hand a further connection to the session it belongs to; then, inside TLS
 * where there is TLS, one greeting each way.
 */
#ifndef XENFERRY_NET_HELLO_H
#define XENFERRY_NET_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "stream/error.h"

#define XF_PROTOCOL_MIN 1u
#define XF_PROTOCOL_MAX 1u

#define XF_PREAMBLE	  32u
#define XF_TOKEN	  16u
#define XF_LANES_MAX	  16u
#define XF_HELLO_HEAD	  64u
#define XF_HELLO_WORDS	  2048u	/* bytes of the command's words, or of a refusal */
#define XF_HELLO_SOFTWARE 32u

struct xf_preamble {
	uint16_t lane;			/* 0 begins a session */
	uint8_t token[XF_TOKEN];	/* of the session, where lane isn't 0 */
};
void xf_preamble_encode(const struct xf_preamble *p, uint8_t bytes[XF_PREAMBLE]);
int  xf_preamble_decode(const uint8_t bytes[XF_PREAMBLE], struct xf_preamble *p, struct xf_error *e);

enum { XF_HELLO_WELCOME = 0, XF_HELLO_REFUSED = 1 };

struct xf_hello {
	uint16_t version_min, version_max;	/* an answer has the one that was chosen, twice */
	uint16_t status;			/* of an answer */
	uint16_t lane;				/* which this is */
	uint16_t lanes;				/* wanted; granted */
	uint32_t codecs;			/* a bit for each that is understood; agreed on */
	uint32_t time_out_ms;			/* silence for so long is the end */
	uint64_t features;			/* the caller's; carried, not looked at */
	uint8_t token[XF_TOKEN];
	char software[XF_HELLO_SOFTWARE];	/* "0.1.0" */
	uint16_t words_len;
	char words[XF_HELLO_WORDS];		/* each with a NUL behind; a refusal is one word */
};

/* Bytes of the greeting, head and tail. */
size_t xf_hello_encode(const struct xf_hello *h, uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS]);
/* The head says how long the tail is: then both are decoded. 0 or -EPROTO, with the sentence. */
int xf_hello_tail(const uint8_t head[XF_HELLO_HEAD], size_t *tail, struct xf_error *e);
int xf_hello_decode(const uint8_t *bytes, size_t len, struct xf_hello *h, struct xf_error *e);

/* The words one by one: NULL before the first, NULL after the last. */
const char *xf_hello_word(const struct xf_hello *h, const char *last);
/* -E2BIG. */
int xf_hello_add_word(struct xf_hello *h, const char *word);
/* The highest version both know, or -EPROTONOSUPPORT with the sentence. */
int xf_hello_version(const struct xf_hello *theirs, uint16_t *version, struct xf_error *e);

#endif
