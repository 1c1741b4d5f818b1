/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef XENFERRY_NET_SESSION_INTERNAL_H
#define XENFERRY_NET_SESSION_INTERNAL_H

#include <pthread.h>

#include "transport/net/codec.h"
#include "transport/net/order.h"
#include "transport/net/pace.h"
#include "transport/net/session.h"
#include "transport/net/supply.h"

struct xf_session;

struct xf_lane {
	struct xf_session *session;
	struct xf_link *link;
	pthread_t sender, receiver;
	struct xf_codec_state *codec_out, *codec_in;
	uint8_t *packed_out, *packed_in;	/* a head's room, then XF_BLOCK bytes */
	struct xf_advice advice;
	uint64_t raw_sent, blocks[XF_CODECS];
};

struct xf_session {
	struct xf_session_setup *setup;
	struct xf_supply supply;
	struct xf_order order;
	struct xf_lane lanes[XF_LANES_MAX];
	pthread_t source, sink;
	int wake;			/* an eventfd: readable once all shall end */
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t changed;
	struct xf_pace pace;
	struct xf_error error;
	unsigned senders, receivers;	/* that still run */
	int exit_sent;			/* ours is on its way: the other side may go */
	int finished;			/* theirs has been delivered, or ours has, and they went */
	int status;
	uint64_t raw_received;
};

/* The first failure stays; all threads go home. */
void xf_session_fail(struct xf_session *s, const struct xf_error *e);
int  xf_session_has_failed(struct xf_session *s);
/* The command runs here. */
int  xf_session_is_server(const struct xf_session *s);

/* ---- lane.c ---- */
int  xf_lane_open(struct xf_lane *l, struct xf_session *s, struct xf_link *link);
void xf_lane_close(struct xf_lane *l);
void *xf_lane_send(void *lane);
void *xf_lane_receive(void *lane);

/* ---- channels.c ---- */
void *xf_session_source(void *session);
void *xf_session_sink(void *session);

#endif
