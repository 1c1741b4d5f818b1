/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks that came in over several connections, in their order again. A
 * window of fixed size: who is further ahead than that waits, and each number
 * is let in once, so the other side can neither fill memory nor repeat itself.
 */
#ifndef XENFERRY_NET_ORDER_H
#define XENFERRY_NET_ORDER_H

#include <pthread.h>
#include <stdint.h>

#include "transport/net/frame.h"

struct xf_slot {
	struct xf_frame frame;
	enum { XF_SLOT_EMPTY, XF_SLOT_TAKEN, XF_SLOT_FULL } state;
	uint8_t *data;		/* XF_BLOCK bytes */
};

struct xf_order {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct xf_slot *slots;
	unsigned n;
	uint64_t next;		/* the number that is due */
	unsigned lanes;		/* that bring something */
	unsigned waiting;	/* of those, that have found themselves ahead of the window where it is now */
	uint64_t moves;		/* of the window, and of what is in it */
	int stopped;
};

/* -ENOMEM. */
int  xf_order_open(struct xf_order *o, unsigned slots, unsigned lanes);
void xf_order_close(struct xf_order *o);

/*
 * The slot for a frame; waits until the window has come to it. NULL: -EPROTO
 * with the sentence (it came before, or the one that is due never will, as all
 * connections wait), or, without one, it was stopped.
 */
struct xf_slot *xf_order_admit(struct xf_order *o, const struct xf_frame *f, struct xf_error *e);
void xf_order_filled(struct xf_order *o, struct xf_slot *slot);
/* The slot that is due; waits. NULL: it was stopped, or nothing more will come. */
struct xf_slot *xf_order_due(struct xf_order *o);
void xf_order_done(struct xf_order *o, struct xf_slot *slot);
/* One connection less will bring anything. */
void xf_order_leave(struct xf_order *o);
void xf_order_stop(struct xf_order *o);

#endif
