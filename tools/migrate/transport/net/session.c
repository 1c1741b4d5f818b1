/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "transport/net/session_internal.h"
#include "transport/net/when.h"

#define PIPE_BYTES (1 << 20)

/* After the command's end the other side has so many time-outs to say goodbye. */
#define GOODBYE_TIME_OUTS 2u

int xf_session_is_server(const struct xf_session *s)
{
	return s->setup->ended_fd >= 0;
}

int xf_session_has_failed(struct xf_session *s)
{
	int failed;

	pthread_mutex_lock(&s->lock);
	failed = s->error.code;
	pthread_mutex_unlock(&s->lock);
	return failed;
}

static void stop(struct xf_session *s)
{
	const uint64_t one = 1;
	ssize_t put;

	xf_supply_stop(&s->supply);
	xf_order_stop(&s->order);
	put = write(s->wake, &one, sizeof(one));
	(void)put;	/* an eventfd takes it, or is full of ones already */
	for (unsigned i = 0; i < s->setup->n_links; i++)
		xf_link_cut(&s->setup->links[i]);
}

void xf_session_fail(struct xf_session *s, const struct xf_error *e)
{
	int over;

	pthread_mutex_lock(&s->lock);
	/* After the end, what becomes of the connections doesn't matter. */
	over = s->finished || s->exit_sent;
	if (!s->error.code && !over)
		s->error = *e;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	stop(s);
}

/* ---- threads ------------------------------------------------------------------ */

struct started {
	unsigned senders, receivers;
	int source, sink;
};

static int start_all(struct xf_session *s, struct started *g)
{
	int ret = 0;

	for (; !ret && g->receivers < s->setup->n_links; g->receivers += !ret)
		ret = pthread_create(&s->lanes[g->receivers].receiver, NULL, xf_lane_receive,
				     &s->lanes[g->receivers]);
	for (; !ret && g->senders < s->setup->n_links; g->senders += !ret)
		ret = pthread_create(&s->lanes[g->senders].sender, NULL, xf_lane_send, &s->lanes[g->senders]);
	if (!ret)
		g->sink = !(ret = pthread_create(&s->sink, NULL, xf_session_sink, s));
	if (!ret)
		g->source = !(ret = pthread_create(&s->source, NULL, xf_session_source, s));
	return -ret;
}

/* One step of waiting, under the lock, by a deadline that begins now if it hasn't. -ETIMEDOUT. */
static int wait_a_little(struct xf_session *s, struct timespec *until)
{
	unsigned ms = GOODBYE_TIME_OUTS * (unsigned)s->setup->links[0].time_out_ms;

	if (!ms)
		return -pthread_cond_wait(&s->changed, &s->lock);
	if (!until->tv_sec) {
		clock_gettime(CLOCK_MONOTONIC, until);
		until->tv_sec += ms / 1000 + 1;
	}
	return -pthread_cond_timedwait(&s->changed, &s->lock, until);
}

/* Until the command's status is here, or until it was sent and the other side said goodbye. */
static void wait_for_end(struct xf_session *s)
{
	struct timespec until = { 0 };

	pthread_mutex_lock(&s->lock);
	while (!s->error.code && !s->finished) {
		if (xf_session_is_server(s) && !s->receivers)
			break;
		if (!xf_session_is_server(s) || s->senders)
			pthread_cond_wait(&s->changed, &s->lock);
		else if (wait_a_little(s, &until) == -ETIMEDOUT)
			break;
	}
	if (xf_session_is_server(s) && !s->error.code && !s->exit_sent)
		xf_error_set(&s->error, -ECONNRESET, "The other side said goodbye before the command's end.");
	else if (!s->error.code)
		s->finished = 1;
	pthread_mutex_unlock(&s->lock);
}

/* The senders say goodbye, unless the other side has stopped to read. */
static void say_goodbye(struct xf_session *s)
{
	struct timespec until = { 0 };

	xf_supply_drop(&s->supply);
	pthread_mutex_lock(&s->lock);
	while (!s->error.code && s->senders && wait_a_little(s, &until) != -ETIMEDOUT)
		;
	pthread_mutex_unlock(&s->lock);
}

static void join_all(struct xf_session *s, const struct started *g)
{
	for (unsigned i = 0; i < g->senders; i++)
		pthread_join(s->lanes[i].sender, NULL);
	for (unsigned i = 0; i < g->receivers; i++)
		pthread_join(s->lanes[i].receiver, NULL);
	if (g->sink)
		pthread_join(s->sink, NULL);
	if (g->source)
		pthread_join(s->source, NULL);
}

/* ---- the whole ------------------------------------------------------------------ */

static void sum_up(const struct xf_session *s, struct xf_session_result *r)
{
	r->has_status = s->finished;
	r->status = s->status;
	r->raw_received = s->raw_received;
	for (unsigned i = 0; i < s->setup->n_links; i++) {
		const struct xf_lane *l = &s->lanes[i];

		r->raw_sent += l->raw_sent;
		r->wire_sent += l->link->bytes_out;
		r->wire_received += l->link->bytes_in;
		r->switches += l->advice.switches;
		for (int c = 0; c < XF_CODECS; c++)
			r->blocks[c] += l->blocks[c];
	}
}

static int open_lanes(struct xf_session *s, unsigned *opened)
{
	int ret = 0;

	while (!ret && *opened < s->setup->n_links) {
		ret = xf_lane_open(&s->lanes[*opened], s, &s->setup->links[*opened]);
		if (!ret)
			++*opened;
	}
	return ret;
}

static int run(struct xf_session *s, struct xf_session_result *r)
{
	struct started g = { 0 };
	unsigned opened = 0;
	int ret = open_lanes(s, &opened);

	if (!ret) {
		s->senders = s->receivers = s->setup->n_links;
		ret = start_all(s, &g);
		if (!ret) {
			wait_for_end(s);
			say_goodbye(s);
		}
		stop(s);
		join_all(s, &g);
		if (ret)
			xf_error_set(&s->error, ret, "Starting a thread failed (%s).", strerror(-ret));
		sum_up(s, r);
	} else {
		xf_error_set(&s->error, ret, "There is no memory for %u connections.", s->setup->n_links);
	}
	while (opened)
		xf_lane_close(&s->lanes[--opened]);
	return s->error.code;
}

static void init_locks(struct xf_session *s)
{
	pthread_condattr_t a;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &a);
	pthread_condattr_destroy(&a);
}

static int open_all(struct xf_session *s)
{
	unsigned n = s->setup->n_links;
	int ret;

	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake < 0)
		return -errno;
	ret = xf_supply_open(&s->supply, 2 * n + 2);
	if (ret)
		goto close_wake;
	ret = xf_order_open(&s->order, 4 * n + 4, n);
	if (ret)
		goto close_supply;
	return 0;
close_supply:
	xf_supply_close(&s->supply);
close_wake:
	close(s->wake);
	return ret;
}

static void close_all(struct xf_session *s)
{
	xf_order_close(&s->order);
	xf_supply_close(&s->supply);
	close(s->wake);
}

int xf_session_run(struct xf_session_setup *setup, struct xf_session_result *r, struct xf_error *e)
{
	struct xf_session *s = calloc(1, sizeof(*s));
	int ret;

	*r = (struct xf_session_result){ 0 };
	if (!s)
		return xf_error_set(e, -ENOMEM, "There is no memory for a session.");
	s->setup = setup;
	s->pace.rate = setup->bandwidth;
	init_locks(s);
	for (unsigned i = 0; i < XF_CHANNELS; i++) {
		/* A larger pipe is fewer switches; where there is none, or no right to it, all works too. */
		fcntl(setup->in[i], F_SETPIPE_SZ, PIPE_BYTES);
		fcntl(setup->out[i], F_SETPIPE_SZ, PIPE_BYTES);
	}
	ret = open_all(s);
	if (!ret) {
		ret = run(s, r);
		close_all(s);
	} else {
		xf_error_set(&s->error, ret, "Setting up a session failed (%s).", strerror(-ret));
	}
	for (unsigned i = 0; i < XF_CHANNELS; i++) {
		if (setup->in[i] >= 0)
			close(setup->in[i]);
		if (setup->out[i] >= 0)
			close(setup->out[i]);
		setup->in[i] = setup->out[i] = -1;
	}
	if (ret)
		xf_error_set(e, ret, "%s", s->error.text);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return ret;
}
