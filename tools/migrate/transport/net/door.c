/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/door.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/net/link.h"
#include "transport/net/pass_fd.h"
#include "transport/net/when.h"

struct call {			/* that hasn't said its preamble yet */
	int fd;
	size_t have;
	uint64_t until_ms;
	uint8_t preamble[XF_PREAMBLE];
};

struct session {
	pid_t pid;
	int more;		/* closed at the other end: it has ended */
	int let_in;		/* 0: who calls is not known yet, so nothing runs for it */
	uint8_t token[XF_TOKEN];
};

struct door {
	const struct xf_door_setup *s;
	struct call calls[XF_DOOR_CALLS];
	unsigned n_calls;
	struct session *sessions;	/* in the order they came */
	unsigned n_sessions, let_in, ended;
	struct pollfd *polled;
};

static void __attribute__((format(printf, 3, 4)))
note(const struct door *d, int fd, const char *fmt, ...)
{
	char text[XF_ERROR_TEXT + 128], who[64];
	va_list args;
	size_t n;

	xf_tcp_peer_address(fd, who, sizeof(who));
	n = (size_t)snprintf(text, sizeof(text), "%s: ", who);
	va_start(args, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, args);
	va_end(args);
	d->s->log(d->s->ctx, text);
}

static void drop_call(struct door *d, unsigned i)
{
	close(d->calls[i].fd);
	memmove(&d->calls[i], &d->calls[i + 1], (d->n_calls - i - 1) * sizeof(d->calls[0]));
	d->n_calls--;
}

static void accept_call(struct door *d)
{
	int fd = accept4(d->s->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	xf_tcp_tune(fd);
	if (d->n_calls == XF_DOOR_CALLS)
		drop_call(d, 0);
	d->calls[d->n_calls++] = (struct call){ .fd = fd, .until_ms = xf_now_ms() + d->s->greet_ms };
}

/* ---- sessions ----------------------------------------------------------------- */

/* In the child: nothing of other callers stays open. */
static void leave_door(struct door *d, int keep)
{
	for (unsigned i = 0; i < d->n_calls; i++)
		if (d->calls[i].fd != keep)
			close(d->calls[i].fd);
	for (unsigned i = 0; i < d->n_sessions; i++)
		close(d->sessions[i].more);
	close(d->s->listener);
}

static void end_session(struct door *d, unsigned i)
{
	struct session *s = &d->sessions[i];

	close(s->more);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	/* What a stranger began counts for nothing. */
	d->let_in -= (unsigned)s->let_in;
	d->ended += (unsigned)s->let_in;
	d->n_sessions--;
	memmove(s, s + 1, (d->n_sessions - i) * sizeof(*s));
}

/* Anybody can call and then say nothing: the first of those who do makes room, so no peer is kept out by them. */
static void make_room(struct door *d)
{
	unsigned i = 0;

	if (d->n_sessions - d->let_in < XF_DOOR_STRANGERS)
		return;
	while (d->sessions[i].let_in)
		i++;
	kill(d->sessions[i].pid, SIGKILL);
	end_session(d, i);
}

static void begin_session(struct door *d, int fd)
{
	struct session *s;
	int pair[2];

	make_room(d);
	s = &d->sessions[d->n_sessions];
	s->let_in = 0;
	if (getrandom(s->token, XF_TOKEN, 0) != (ssize_t)XF_TOKEN ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		note(d, fd, "Starting a session failed (%s).", strerror(errno));
		return;
	}
	s->pid = fork();
	if (!s->pid) {
		leave_door(d, fd);
		close(pair[0]);
		_exit(d->s->session(d->s->ctx, fd, pair[1], s->token));
	}
	close(pair[1]);
	s->more = pair[0];
	if (s->pid > 0) {
		d->n_sessions++;
		return;
	}
	note(d, fd, "Starting a process failed (%s).", strerror(errno));
	close(pair[0]);
}

/* A session's process asks to be let in, or has ended. */
static void hear_session(struct door *d, unsigned i)
{
	struct session *s = &d->sessions[i];
	uint8_t word;

	if (recv(s->more, &word, 1, MSG_DONTWAIT) != 1) {
		end_session(d, i);
		return;
	}
	word = !s->let_in && d->let_in < d->s->sessions_max;
	s->let_in |= word;
	d->let_in += word;
	send(s->more, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int xf_door_let_in(int more, struct xf_error *e)
{
	uint8_t word = 1;
	ssize_t n = send(more, &word, 1, MSG_NOSIGNAL);

	while (n == 1 && (n = recv(more, &word, 1, 0)) < 0 && errno == EINTR)
		n = 1;
	if (n != 1)
		return xf_error_set(e, -ECONNRESET, "The listener has just ended; start it again on that host.");
	if (!word)
		return xf_error_set(e, -EBUSY, "As many guests as may be are coming in already; try again when one"
				    " has arrived.");
	return 0;
}

static void join_session(struct door *d, int fd, const struct xf_preamble *p)
{
	for (unsigned i = 0; i < d->n_sessions; i++)
		if (!memcmp(d->sessions[i].token, p->token, XF_TOKEN)) {
			xf_fd_send(d->sessions[i].more, fd);
			return;
		}
	note(d, fd, "The call belongs to no session there is; it was hung up on.");
}

/* ---- preambles ------------------------------------------------------------------- */

static void take_preamble(struct door *d, struct call *c)
{
	struct xf_error e = { 0 };
	struct xf_preamble p;

	if (xf_preamble_decode(c->preamble, &p, &e))
		note(d, c->fd, "%s", e.text);
	else if (p.lane)
		join_session(d, c->fd, &p);
	else
		begin_session(d, c->fd);
}

/* 1: done with it. */
static int hear_call(struct door *d, struct call *c)
{
	ssize_t n = recv(c->fd, c->preamble + c->have, XF_PREAMBLE - c->have, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return 1;
	c->have += (size_t)n;
	if (c->have < XF_PREAMBLE)
		return 0;
	take_preamble(d, c);
	return 1;
}

static void hear_calls(struct door *d, const struct pollfd *p)
{
	uint64_t now = xf_now_ms();

	/* From the end, as those behind a dropped one move up. */
	for (unsigned i = d->n_calls; i-- > 0;) {
		if (p[i].revents ? hear_call(d, &d->calls[i]) : now >= d->calls[i].until_ms)
			drop_call(d, i);
	}
}

/* ---- the loop ---------------------------------------------------------------------- */

static int time_left(const struct door *d)
{
	uint64_t now = xf_now_ms();

	if (!d->n_calls)
		return -1;
	return d->calls[0].until_ms > now ? (int)(d->calls[0].until_ms - now) : 0;
}

static int turn(struct door *d)
{
	struct pollfd *p = d->polled, *calls, *sessions;
	unsigned n_calls = d->n_calls, n_sessions = d->n_sessions;

	p[0] = (struct pollfd){ .fd = d->s->listener, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = d->s->stop_fd, .events = POLLIN };
	calls = p + 2;
	sessions = calls + n_calls;
	for (unsigned i = 0; i < n_calls; i++)
		calls[i] = (struct pollfd){ .fd = d->calls[i].fd, .events = POLLIN };
	for (unsigned i = 0; i < n_sessions; i++)
		sessions[i] = (struct pollfd){ .fd = d->sessions[i].more, .events = POLLIN };
	if (poll(p, 2 + n_calls + n_sessions, time_left(d)) < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[1].revents)
		return 1;
	for (unsigned i = n_sessions; i-- > 0;)
		if (sessions[i].revents)
			hear_session(d, i);
	hear_calls(d, calls);
	if (p[0].revents)
		accept_call(d);
	return d->s->sessions_total && d->ended >= d->s->sessions_total;
}

int xf_door_run(const struct xf_door_setup *s, struct xf_error *e)
{
	struct door d = { .s = s };
	int ret = -ENOMEM;

	d.sessions = calloc(s->sessions_max + XF_DOOR_STRANGERS, sizeof(*d.sessions));
	d.polled = calloc(2 + XF_DOOR_CALLS + s->sessions_max + XF_DOOR_STRANGERS, sizeof(*d.polled));
	if (d.sessions && d.polled)
		while (!(ret = turn(&d)))
			;
	while (d.n_calls)
		drop_call(&d, d.n_calls - 1);
	/* Sessions under way go on without us. */
	for (unsigned i = 0; i < d.n_sessions; i++)
		close(d.sessions[i].more);
	free(d.polled);
	free(d.sessions);
	if (ret < 0)
		return xf_error_set(e, ret, "Waiting for calls failed (%s).", strerror(-ret));
	return 0;
}
