/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a session comes to be: the calling side opens the first connection,
 * greets, is answered, and opens the others with the token it got.
 */
#ifndef XENFERRY_NET_GREET_H
#define XENFERRY_NET_GREET_H

#include "transport/net/hello.h"
#include "transport/net/link.h"

#define XF_GREET_MS 10000u	/* for a handshake and a greeting */

struct xf_links {
	struct xf_link link[XF_LANES_MAX];
	unsigned n;
};
void xf_links_close(struct xf_links *l);

int xf_hello_send(struct xf_link *l, const struct xf_hello *h, struct xf_error *e);
int xf_hello_receive(struct xf_link *l, struct xf_hello *h, struct xf_error *e);

/* ---- the calling side (dial.c) ------------------------------------------ */

struct xf_dial {
	const char *address, *port;
	const struct xf_identity *identity;	/* NULL: plain TCP */
	const uint8_t *pin;			/* of the other side's key */
	unsigned greet_ms;
	struct xf_hello hello;			/* lanes, codecs, time-out, features, software, words */
};
/*
 * Opens as many connections as are granted. -ECONNREFUSED: the other side says no,
 * and the sentence is its own.
 */
int xf_dial(const struct xf_dial *d, struct xf_links *links, struct xf_hello *answer, struct xf_error *e);

/* ---- the called side (answer.c) ------------------------------------------ */

struct xf_answer {
	const struct xf_identity *identity;	/* NULL: plain TCP */
	const struct xf_peers *peers;
	uint8_t token[XF_TOKEN];
	unsigned greet_ms;
	unsigned lanes_max;
	struct xf_hello hello;			/* codecs, time-out, features, software */
	/* Whether the words are allowed: 0, or a negative errno with the sentence the caller will get. */
	int (*allow)(void *ctx, const struct xf_peer *peer, const struct xf_hello *theirs, struct xf_error *e);
	void *ctx;
};
/*
 * fd: the first connection, its preamble read; fds of further ones come out of
 * `more`, a Unix socket. hello gets what the other side said, with what was agreed on.
 */
int xf_answer(struct xf_answer *a, int fd, int more, struct xf_links *links, struct xf_hello *theirs,
	      const struct xf_peer **peer, struct xf_error *e);

#endif
