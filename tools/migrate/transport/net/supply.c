/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/supply.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t a;

	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(c, &a);
	pthread_condattr_destroy(&a);
}

int xf_supply_open(struct xf_supply *s, unsigned blocks)
{
	*s = (struct xf_supply){ .n = blocks, .blocks = calloc(blocks, sizeof(*s->blocks)) };
	s->last = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	cond_init(&s->ready);
	cond_init(&s->room);
	for (unsigned i = 0; s->blocks && i < blocks; i++) {
		s->blocks[i].space = malloc(XF_FRAME_HEAD + XF_BLOCK);
		if (!s->blocks[i].space)
			break;
		s->blocks[i].next = s->free;
		s->free = &s->blocks[i];
		if (i == blocks - 1)
			return 0;
	}
	xf_supply_close(s);
	return -ENOMEM;
}

void xf_supply_close(struct xf_supply *s)
{
	for (unsigned i = 0; s->blocks && i < s->n; i++)
		free(s->blocks[i].space);
	free(s->blocks);
	s->blocks = NULL;
	pthread_cond_destroy(&s->room);
	pthread_cond_destroy(&s->ready);
	pthread_mutex_destroy(&s->lock);
}

struct xf_block *xf_supply_room(struct xf_supply *s)
{
	struct xf_block *b = NULL;

	pthread_mutex_lock(&s->lock);
	while (!s->free && !s->stopped && !s->dropped)
		pthread_cond_wait(&s->room, &s->lock);
	if (!s->stopped && !s->dropped) {
		b = s->free;
		s->free = b->next;
	}
	pthread_mutex_unlock(&s->lock);
	return b;
}

void xf_supply_put(struct xf_supply *s, struct xf_block *b)
{
	pthread_mutex_lock(&s->lock);
	b->frame.seq = s->next_seq++;
	b->next = NULL;
	*s->last = b;
	s->last = &b->next;
	pthread_cond_signal(&s->ready);
	pthread_mutex_unlock(&s->lock);
}

static void raise_flag(struct xf_supply *s, int *flag)
{
	pthread_mutex_lock(&s->lock);
	*flag = 1;
	pthread_cond_broadcast(&s->ready);
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
}

void xf_supply_end(struct xf_supply *s)
{
	raise_flag(s, &s->ended);
}

void xf_supply_drop(struct xf_supply *s)
{
	raise_flag(s, &s->dropped);
}

void xf_supply_stop(struct xf_supply *s)
{
	raise_flag(s, &s->stopped);
}

struct xf_block *xf_supply_take(struct xf_supply *s, unsigned ms, enum xf_supply_why *why)
{
	struct xf_block *b = NULL;
	struct timespec until;
	int late = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&s->lock);
	while (!s->first && !s->ended && !s->dropped && !s->stopped && !late)
		late = pthread_cond_timedwait(&s->ready, &s->lock, &until) == ETIMEDOUT;
	if (s->first && !s->dropped && !s->stopped) {
		b = s->first;
		s->first = b->next;
		if (!s->first)
			s->last = &s->first;
	} else {
		*why = s->stopped ? XF_SUPPLY_STOPPED : s->ended || s->dropped ? XF_SUPPLY_ENDED : XF_SUPPLY_IDLE;
	}
	pthread_mutex_unlock(&s->lock);
	return b;
}

void xf_supply_release(struct xf_supply *s, struct xf_block *b)
{
	pthread_mutex_lock(&s->lock);
	b->next = s->free;
	s->free = b;
	pthread_cond_signal(&s->room);
	pthread_mutex_unlock(&s->lock);
}
