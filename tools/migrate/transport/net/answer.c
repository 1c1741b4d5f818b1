/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/net/greet.h"
#include "transport/net/pass_fd.h"
#include "transport/net/when.h"

#define HANG_UP_MS 1000u

/*
 * Closing while something of the other side is unread would take away what it
 * has yet to read, such as why it was refused: so that is read first, for a while.
 */
static void hang_up(struct xf_link *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	uint64_t until = xf_now_ms() + HANG_UP_MS, now;
	char drop[4096];

	shutdown(l->fd, SHUT_WR);
	while ((now = xf_now_ms()) < until && poll(&p, 1, (int)(until - now)) > 0 &&
	       recv(l->fd, drop, sizeof(drop), MSG_DONTWAIT) > 0)
		;
	xf_link_close(l);
}

/* A connection that has said its preamble: handshake and greeting. */
static int hear(const struct xf_answer *a, int fd, struct xf_link *l, struct xf_hello *theirs,
		const struct xf_peer **peer, struct xf_error *e)
{
	char address[XF_PEER_NAME];
	int ret = xf_link_open(l, fd, e);

	if (ret)
		return ret;
	xf_link_deadline(l, a->greet_ms);
	if (a->identity) {
		ret = xf_link_tls_server(l, a->identity, a->peers, e);
		*peer = ret ? NULL : xf_peers_by_pin(a->peers, l->pin);
	} else {
		xf_tcp_peer_address(fd, address, sizeof(address));
		*peer = xf_peers_by_address(a->peers, address);
		if (!*peer)
			ret = xf_error_set(e, -EACCES, "Found a call from %s, expected one of the peers that"
					   " are let in without TLS; add a line \"peer = NAME plain %s\" to the"
					   " configuration here, if it may come in.", address, address);
	}
	if (!ret)
		ret = xf_hello_receive(l, theirs, e);
	if (ret)
		hang_up(l);
	return ret;
}

static int say(const struct xf_answer *a, struct xf_link *l, const struct xf_hello *theirs, uint16_t version,
	       struct xf_error *e)
{
	struct xf_hello h = a->hello;
	int ret;

	h.version_min = h.version_max = version;
	h.lane = theirs->lane;
	h.lanes = theirs->lanes;
	h.codecs = theirs->codecs;
	memcpy(h.token, a->token, XF_TOKEN);
	ret = xf_hello_send(l, &h, e);
	xf_link_deadline(l, 0);
	l->time_out_ms = (int)a->hello.time_out_ms;
	return ret;
}

static void refuse(const struct xf_answer *a, struct xf_link *l, const struct xf_error *why)
{
	struct xf_hello h = a->hello;
	struct xf_error ignored = { 0 };

	h.status = XF_HELLO_REFUSED;
	h.version_min = XF_PROTOCOL_MIN;
	h.version_max = XF_PROTOCOL_MAX;
	h.lanes = 1;
	xf_hello_add_word(&h, why->text);
	xf_hello_send(l, &h, &ignored);
}

static int first(const struct xf_answer *a, int fd, struct xf_links *links, struct xf_hello *theirs,
		 const struct xf_peer **peer, struct xf_error *e)
{
	struct xf_link *l = &links->link[0];
	uint16_t version = 0;
	int ret = hear(a, fd, l, theirs, peer, e);

	if (ret)
		return ret;
	links->n = 1;
	ret = xf_hello_version(theirs, &version, e);
	if (!ret && theirs->lane)
		ret = xf_error_set(e, -EPROTO, "The first connection calls itself number %u.", theirs->lane);
	if (!ret)
		ret = a->allow(a->ctx, *peer, theirs, e);
	if (ret) {
		refuse(a, l, e);
		hang_up(l);
		links->n = 0;
		return ret;
	}
	if (theirs->lanes > a->lanes_max)
		theirs->lanes = (uint16_t)a->lanes_max;
	theirs->codecs &= a->hello.codecs;
	return say(a, l, theirs, version, e);
}

/* One that isn't of the same peer, or not the next one, is hung up on: anybody may have sent it. */
static int is_next(const struct xf_answer *a, const struct xf_links *links, const struct xf_hello *theirs,
		   const struct xf_peer *first_peer, const struct xf_peer *peer)
{
	return peer == first_peer && theirs->lane == links->n && !memcmp(theirs->token, a->token, XF_TOKEN);
}

static int further(const struct xf_answer *a, int more, struct xf_links *links, const struct xf_peer *peer,
		   const struct xf_hello *agreed, struct xf_error *e)
{
	uint64_t until = xf_now_ms() + a->greet_ms;

	while (links->n < agreed->lanes) {
		struct xf_link *l = &links->link[links->n];
		const struct xf_peer *who = NULL;
		struct xf_error ignored = { 0 };
		struct xf_hello theirs, answer = *agreed;
		uint64_t now = xf_now_ms();
		int fd = now < until ? xf_fd_receive(more, (int)(until - now)) : -ETIMEDOUT;

		if (fd < 0)
			return xf_error_set(e, fd, "Found %u connections of the %u agreed on (%s): expected the"
					    " others soon; see what the other side says.", links->n,
					    agreed->lanes, strerror(-fd));
		if (hear(a, fd, l, &theirs, &who, &ignored))
			continue;
		if (!is_next(a, links, &theirs, peer, who)) {
			xf_link_close(l);
			continue;
		}
		answer.lane = theirs.lane;
		links->n++;
		if (say(a, l, &answer, XF_PROTOCOL_MAX, e))
			return e->code;
	}
	return 0;
}

int xf_answer(struct xf_answer *a, int fd, int more, struct xf_links *links, struct xf_hello *theirs,
	      const struct xf_peer **peer, struct xf_error *e)
{
	int ret;

	links->n = 0;
	ret = first(a, fd, links, theirs, peer, e);
	if (!ret)
		ret = further(a, more, links, *peer, theirs, e);
	if (ret)
		xf_links_close(links);
	return ret;
}
