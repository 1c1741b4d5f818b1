/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int xf_order_open(struct xf_order *o, unsigned slots, unsigned lanes)
{
	*o = (struct xf_order){ .n = slots, .lanes = lanes, .slots = calloc(slots, sizeof(*o->slots)) };
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->moved, NULL);
	for (unsigned i = 0; o->slots && i < slots; i++) {
		o->slots[i].data = malloc(XF_BLOCK);
		if (!o->slots[i].data)
			break;
		if (i == slots - 1)
			return 0;
	}
	xf_order_close(o);
	return -ENOMEM;
}

void xf_order_close(struct xf_order *o)
{
	for (unsigned i = 0; o->slots && i < o->n; i++)
		free(o->slots[i].data);
	free(o->slots);
	o->slots = NULL;
	pthread_cond_destroy(&o->moved);
	pthread_mutex_destroy(&o->lock);
}

/* All that could bring the frame that is due wait for it. */
static int is_stuck(const struct xf_order *o)
{
	return o->waiting >= o->lanes && o->slots[o->next % o->n].state == XF_SLOT_EMPTY;
}

static int is_ahead(const struct xf_order *o, const struct xf_frame *f)
{
	return !o->stopped && f->seq >= o->next && f->seq - o->next >= o->n;
}

/* Under the lock: all who wait look anew. Until they have, they don't count as waiting. */
static void has_moved(struct xf_order *o)
{
	o->moves++;
	o->waiting = 0;
	pthread_cond_broadcast(&o->moved);
}

/* Under the lock. */
static int wait_for_window(struct xf_order *o, const struct xf_frame *f, struct xf_error *e)
{
	while (is_ahead(o, f)) {
		uint64_t moves = o->moves;

		o->waiting++;
		if (is_stuck(o))
			return xf_error_set(e, -EPROTO, "Frame %" PRIu64 " came, expected number %" PRIu64 ", which"
					    " no connection brings; the other side is broken.", f->seq, o->next);
		while (moves == o->moves)
			pthread_cond_wait(&o->moved, &o->lock);
	}
	return 0;
}

struct xf_slot *xf_order_admit(struct xf_order *o, const struct xf_frame *f, struct xf_error *e)
{
	struct xf_slot *slot = NULL;

	pthread_mutex_lock(&o->lock);
	if (!wait_for_window(o, f, e) && !o->stopped) {
		slot = &o->slots[f->seq % o->n];
		if (f->seq < o->next || slot->state != XF_SLOT_EMPTY) {
			xf_error_set(e, -EPROTO, "Frame %" PRIu64 " came twice, expected each once; the other"
				     " side is broken, or somebody repeats what it sent.", f->seq);
			slot = NULL;
		} else {
			slot->state = XF_SLOT_TAKEN;
			slot->frame = *f;
		}
	}
	pthread_mutex_unlock(&o->lock);
	return slot;
}

static void move(struct xf_order *o, struct xf_slot *slot, int state, uint64_t by)
{
	pthread_mutex_lock(&o->lock);
	if (slot)
		slot->state = state;
	o->next += by;
	has_moved(o);
	pthread_mutex_unlock(&o->lock);
}

void xf_order_filled(struct xf_order *o, struct xf_slot *slot)
{
	move(o, slot, XF_SLOT_FULL, 0);
}

void xf_order_done(struct xf_order *o, struct xf_slot *slot)
{
	move(o, slot, XF_SLOT_EMPTY, 1);
}

struct xf_slot *xf_order_due(struct xf_order *o)
{
	struct xf_slot *slot;

	pthread_mutex_lock(&o->lock);
	for (;;) {
		slot = &o->slots[o->next % o->n];
		if (slot->state == XF_SLOT_FULL || o->stopped || !o->lanes)
			break;
		pthread_cond_wait(&o->moved, &o->lock);
	}
	if (o->stopped || slot->state != XF_SLOT_FULL)
		slot = NULL;
	pthread_mutex_unlock(&o->lock);
	return slot;
}

void xf_order_leave(struct xf_order *o)
{
	pthread_mutex_lock(&o->lock);
	o->lanes--;
	has_moved(o);
	pthread_mutex_unlock(&o->lock);
}

void xf_order_stop(struct xf_order *o)
{
	pthread_mutex_lock(&o->lock);
	o->stopped = 1;
	has_moved(o);
	pthread_mutex_unlock(&o->lock);
}
