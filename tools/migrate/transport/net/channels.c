/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ends of a session: inputs become blocks, blocks become outputs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "transport/net/session_internal.h"

static void close_channel(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- inputs ------------------------------------------------------------------ */

static int put(struct xf_session *s, uint8_t type, uint8_t channel, uint32_t value)
{
	struct xf_block *b = xf_supply_room(&s->supply);

	if (!b)
		return -ECANCELED;
	b->frame = (struct xf_frame){ .type = type, .channel = channel, .raw_len = value };
	xf_supply_put(&s->supply, b);
	return 0;
}

/* What there is to read now becomes one block; its end, or an error, becomes the channel's end. */
static int take_input(struct xf_session *s, uint8_t channel)
{
	struct xf_block *b = xf_supply_room(&s->supply);
	ssize_t n;

	if (!b)
		return -ECANCELED;
	do
		n = read(s->setup->in[channel], b->space + XF_FRAME_HEAD, XF_BLOCK);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN) {
		xf_supply_release(&s->supply, b);
		return 0;
	}
	b->frame = (struct xf_frame){ .type = n > 0 ? XF_FRAME_DATA : XF_FRAME_EOF, .channel = channel,
				      .raw_len = n > 0 ? (uint32_t)n : 0 };
	xf_supply_put(&s->supply, b);
	if (n <= 0)
		close_channel(&s->setup->in[channel]);
	return 0;
}

/* 1: there is something or the end; 0: time to go home. */
static int wait_for_input(struct xf_session *s, struct pollfd p[XF_CHANNELS + 2], int ms)
{
	for (unsigned i = 0; i < XF_CHANNELS; i++)
		p[i] = (struct pollfd){ .fd = s->setup->in[i], .events = POLLIN };
	p[XF_CHANNELS] = (struct pollfd){ .fd = s->setup->ended_fd, .events = POLLIN };
	p[XF_CHANNELS + 1] = (struct pollfd){ .fd = s->wake, .events = POLLIN };
	while (poll(p, XF_CHANNELS + 2, ms) < 0 && errno == EINTR)
		;
	return !p[XF_CHANNELS + 1].revents;
}

static int take_what_is_there(struct xf_session *s, const struct pollfd p[XF_CHANNELS], int *some)
{
	int ret = 0;

	*some = 0;
	for (uint8_t i = 0; !ret && i < XF_CHANNELS; i++)
		if (p[i].fd >= 0 && p[i].revents) {
			ret = take_input(s, i);
			*some = 1;
		}
	return ret;
}

/*
 * The command has ended; what it wrote before is still in the pipes. A daemon
 * it left behind may hold their other ends open, so nobody waits for theirs.
 */
static int command_ended(struct xf_session *s)
{
	struct pollfd p[XF_CHANNELS + 2];
	int some = 1, ret = 0;

	while (!ret && some && wait_for_input(s, p, 0))
		ret = take_what_is_there(s, p, &some);
	for (uint8_t i = 0; !ret && i < XF_CHANNELS; i++)
		if (s->setup->in[i] >= 0) {
			close_channel(&s->setup->in[i]);
			ret = put(s, XF_FRAME_EOF, i, 0);
		}
	return ret ? ret : put(s, XF_FRAME_EXIT, 0, (uint32_t)s->setup->status(s->setup->ctx));
}

void *xf_session_source(void *session)
{
	struct xf_session *s = session;
	struct pollfd p[XF_CHANNELS + 2];
	int some, ret = 0;

	while (!ret && (xf_session_is_server(s) || s->setup->in[0] >= 0 || s->setup->in[1] >= 0)) {
		if (!wait_for_input(s, p, -1))
			return NULL;
		if (p[XF_CHANNELS].fd >= 0 && p[XF_CHANNELS].revents) {
			if (!command_ended(s))
				xf_supply_end(&s->supply);
			return NULL;
		}
		ret = take_what_is_there(s, p, &some);
	}
	return NULL;
}

/* ---- outputs ------------------------------------------------------------------ */

/* A descriptor that blocks (the caller's own, shared with others) takes this much once poll says so. */
static size_t at_once(int fd, size_t len)
{
	return len > PIPE_BUF && !(fcntl(fd, F_GETFL) & O_NONBLOCK) ? PIPE_BUF : len;
}

/*
 * 0, -ECANCELED when all shall end, or what write said. -EPIPE also once the
 * command has ended: something it left behind may hold its input open.
 */
static int write_all(struct xf_session *s, int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		struct pollfd p[3] = {
			{ .fd = fd, .events = POLLOUT }, { .fd = s->wake, .events = POLLIN },
			{ .fd = s->setup->ended_fd, .events = POLLIN },
		};
		ssize_t n;

		if (poll(p, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (p[1].revents)
			return -ECANCELED;
		if (p[2].revents)
			return -EPIPE;
		n = write(fd, bytes, at_once(fd, len));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int deliver_data(struct xf_session *s, const struct xf_slot *slot, int ended, struct xf_error *e)
{
	int *fd = &s->setup->out[slot->frame.channel], ret;

	if (ended)
		return xf_error_set(e, -EPROTO, "Data came for channel %u after its end; the other side is"
				    " broken.", slot->frame.channel);
	s->raw_received += slot->frame.raw_len;
	if (*fd < 0)
		return 0;
	ret = write_all(s, *fd, slot->data, slot->frame.raw_len);
	if (!ret || ret == -ECANCELED)
		return ret;
	/* A command that doesn't read its input any more still has its say; the rest is for nobody. */
	if (xf_session_is_server(s) || slot->frame.channel) {
		close_channel(fd);
		return 0;
	}
	return xf_error_set(e, ret, "Writing what the command says failed (%s): whoever started this has gone.",
			    strerror(-ret));
}

static int deliver(struct xf_session *s, const struct xf_slot *slot, int ended[XF_CHANNELS], struct xf_error *e)
{
	const struct xf_frame *f = &slot->frame;

	if (f->type == XF_FRAME_DATA)
		return deliver_data(s, slot, ended[f->channel], e);
	if (f->type == XF_FRAME_EOF) {
		if (ended[f->channel]++)
			return xf_error_set(e, -EPROTO, "Channel %u ended twice; the other side is broken.",
					    f->channel);
		close_channel(&s->setup->out[f->channel]);
		return 0;
	}
	if (xf_session_is_server(s))
		return xf_error_set(e, -EPROTO, "An exit status came, expected none, as the command runs here;"
				    " the other side is broken.");
	pthread_mutex_lock(&s->lock);
	s->finished = 1;
	s->status = (int)f->raw_len;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static void fail_if_incomplete(struct xf_session *s)
{
	struct xf_error e = { 0 };

	if (xf_session_is_server(s) || xf_session_has_failed(s))
		return;
	xf_error_set(&e, -EPROTO, "The other side said goodbye before the command's end; see its log.");
	xf_session_fail(s, &e);
}

void *xf_session_sink(void *session)
{
	struct xf_session *s = session;
	int ended[XF_CHANNELS] = { 0, 0 }, ret, last;
	struct xf_error e = { 0 };
	struct xf_slot *slot;

	while ((slot = xf_order_due(&s->order))) {
		ret = deliver(s, slot, ended, &e);
		last = slot->frame.type == XF_FRAME_EXIT;
		xf_order_done(&s->order, slot);
		if (e.code)
			xf_session_fail(s, &e);
		if (ret || last)
			return NULL;
	}
	fail_if_incomplete(s);
	return NULL;
}
