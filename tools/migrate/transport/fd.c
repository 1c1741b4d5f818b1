/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/transport.h"

#include <errno.h>
#include <poll.h>

static int fd_of(const struct xf_transport *t)
{
	return ((const struct xf_transport_fd *)t)->fd;
}

/* A descriptor somebody made non-blocking: wait, then have the caller try again. */
static ssize_t wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : -EINTR;
}

static ssize_t fd_readv(struct xf_transport *t, const struct iovec *iov, int n)
{
	ssize_t got = readv(fd_of(t), iov, n);

	if (got >= 0)
		return got;
	return errno == EAGAIN ? wait_for(fd_of(t), POLLIN) : -errno;
}

static ssize_t fd_writev(struct xf_transport *t, const struct iovec *iov, int n)
{
	ssize_t put = writev(fd_of(t), iov, n);

	if (put >= 0)
		return put;
	return errno == EAGAIN ? wait_for(fd_of(t), POLLOUT) : -errno;
}

static const struct xf_transport_ops fd_ops = {
	.readv = fd_readv,
	.writev = fd_writev,
};

void xf_transport_fd_init(struct xf_transport_fd *t, int fd)
{
	*t = (struct xf_transport_fd){ .base.ops = &fd_ops, .fd = fd };
}
