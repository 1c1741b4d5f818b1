/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks on their way out: one thread fills them and numbers them, each
 * connection's sender takes the next. So many and no more: who is ahead waits.
 */
#ifndef XENFERRY_NET_SUPPLY_H
#define XENFERRY_NET_SUPPLY_H

#include <pthread.h>
#include <stdint.h>

#include "transport/net/frame.h"

struct xf_block {
	struct xf_frame frame;	/* type, channel, seq, raw_len */
	struct xf_block *next;
	uint8_t *space;		/* a head's room, then XF_BLOCK bytes */
};

struct xf_supply {
	pthread_mutex_t lock;
	pthread_cond_t ready, room;
	struct xf_block *blocks, *free, *first, **last;
	unsigned n;
	uint64_t next_seq;
	int ended, dropped, stopped;
};

/* -ENOMEM. */
int  xf_supply_open(struct xf_supply *s, unsigned blocks);
void xf_supply_close(struct xf_supply *s);

/* One to fill; waits. NULL: it was stopped, or nothing is wanted any more. */
struct xf_block *xf_supply_room(struct xf_supply *s);
void xf_supply_put(struct xf_supply *s, struct xf_block *b);
/* Nothing will be put any more. */
void xf_supply_end(struct xf_supply *s);
/* The same, and what waits isn't wanted any more. */
void xf_supply_drop(struct xf_supply *s);
/* Everybody who waits or will wait goes home at once. */
void xf_supply_stop(struct xf_supply *s);

enum xf_supply_why { XF_SUPPLY_IDLE, XF_SUPPLY_ENDED, XF_SUPPLY_STOPPED };
/* The next one; waits up to ms. NULL, and why, where there is none. */
struct xf_block *xf_supply_take(struct xf_supply *s, unsigned ms, enum xf_supply_why *why);
void xf_supply_release(struct xf_supply *s, struct xf_block *b);

#endif
