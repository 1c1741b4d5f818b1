/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/net/link_io.h"
#include "transport/net/when.h"

#define AHEAD (64u << 10)	/* several TLS records a system call */

int xf_link_open(struct xf_link *l, int fd, struct xf_error *e)
{
	*l = (struct xf_link){ .fd = fd, .ahead = malloc(AHEAD) };
	if (l->ahead)
		return 0;
	close(fd);
	l->fd = -1;
	return xf_error_set(e, -ENOMEM, "There is no memory for another connection.");
}

void xf_link_close(struct xf_link *l)
{
	if (l->tls)
		xf_tls_end(l);
	if (l->fd >= 0)
		close(l->fd);
	free(l->ahead);
	*l = (struct xf_link){ .fd = -1 };
}

void xf_link_cut(struct xf_link *l)
{
	shutdown(l->fd, SHUT_RDWR);
}

void xf_link_deadline(struct xf_link *l, unsigned ms)
{
	l->deadline_ms = ms ? xf_now_ms() + ms : 0;
}

int xf_link_wait(const struct xf_link *l, short events, unsigned most_ms)
{
	struct pollfd p = { .fd = l->fd, .events = events };
	int64_t left = most_ms ? (int64_t)most_ms : l->time_out_ms ? l->time_out_ms : -1;

	if (l->deadline_ms) {
		int64_t until = (int64_t)(l->deadline_ms - xf_now_ms());

		if (until <= 0)
			return -ETIMEDOUT;
		left = left < 0 || until < left ? until : left;
	}
	switch (poll(&p, 1, (int)left)) {
	case 0:
		return -ETIMEDOUT;
	case -1:
		return errno == EINTR ? 0 : -errno;
	default:
		return 0;
	}
}

/* Bytes as they come in. 0 is the end. */
static ssize_t receive(struct xf_link *l, void *buf, size_t len)
{
	for (;;) {
		ssize_t n = recv(l->fd, buf, len, MSG_DONTWAIT);
		int ret;

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		ret = xf_link_wait(l, POLLIN, 0);
		if (ret)
			return ret;
	}
}

ssize_t xf_link_some(struct xf_link *l, void *buf, size_t len)
{
	size_t have;

	if (l->ahead_at == l->ahead_len) {
		ssize_t n;

		if (len >= AHEAD)
			return receive(l, buf, len);
		n = receive(l, l->ahead, AHEAD);
		if (n <= 0)
			return n;
		l->ahead_at = 0;
		l->ahead_len = (size_t)n;
	}
	have = l->ahead_len - l->ahead_at;
	if (have > len)
		have = len;
	memcpy(buf, l->ahead + l->ahead_at, have);
	l->ahead_at += have;
	return (ssize_t)have;
}

ssize_t xf_link_send(struct xf_link *l, const void *buf, size_t len)
{
	ssize_t n;

	do
		n = send(l->fd, buf, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int xf_link_sentence(int ret, struct xf_error *e)
{
	switch (ret) {
	case -ENODATA:
		return xf_error_set(e, ret, "The other side closed the connection before its end.");
	case -ETIMEDOUT:
		return xf_error_set(e, ret, "Nothing was heard of the other side until the time-out; see that"
				    " it and the network are up.");
	case -EPIPE:
	case -ECONNRESET:
		return xf_error_set(e, -ECONNRESET, "The connection broke off (%s); see what the other side"
				    " says in its log.", strerror(-ret));
	default:
		return xf_error_set(e, ret, "The connection failed (%s).", strerror(-ret));
	}
}

int xf_link_read(struct xf_link *l, void *buf, size_t len, struct xf_error *e)
{
	char *at = buf;

	while (len) {
		ssize_t n = l->tls ? xf_tls_read(l, at, len, e) : xf_link_some(l, at, len);

		if (n == 0)
			n = -ENODATA;
		if (n < 0)
			return xf_link_sentence((int)n, e);
		at += n;
		len -= (size_t)n;
		l->bytes_in += (uint64_t)n;
	}
	return 0;
}

int xf_link_write(struct xf_link *l, const void *buf, size_t len, struct xf_error *e)
{
	const char *at = buf;

	while (len) {
		ssize_t n = l->tls ? xf_tls_write(l, at, len, e) : xf_link_send(l, at, len);

		if (n < 0)
			return xf_link_sentence((int)n, e);
		at += n;
		len -= (size_t)n;
		l->bytes_out += (uint64_t)n;
	}
	return 0;
}
