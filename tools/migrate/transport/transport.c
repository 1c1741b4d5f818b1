/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/transport.h"

#include <errno.h>

#define PIECES 256	/* a call; well under IOV_MAX, and 4 KiB of stack */

struct cursor {
	const struct iovec *iov;
	size_t n;
	size_t off;	/* into iov[0] */
};

/* Fills out with what lies ahead of the cursor, touching neighbours joined. */
static int gather(const struct cursor *c, struct iovec *out)
{
	size_t off = c->off;
	int used = 0;

	for (size_t i = 0; i < c->n; i++, off = 0) {
		size_t len = c->iov[i].iov_len - off;
		char *base;

		if (!len)
			continue;
		base = (char *)c->iov[i].iov_base + off;
		if (used && (char *)out[used - 1].iov_base + out[used - 1].iov_len == base) {
			out[used - 1].iov_len += len;
			continue;
		}
		if (used == PIECES)
			break;
		out[used].iov_base = base;
		out[used].iov_len = len;
		used++;
	}
	return used;
}

static void advance(struct cursor *c, size_t moved)
{
	while (c->n && moved >= c->iov[0].iov_len - c->off) {
		moved -= c->iov[0].iov_len - c->off;
		c->off = 0;
		c->iov++;
		c->n--;
	}
	c->off += moved;
}

int xf_transport_readv(struct xf_transport *t, const struct iovec *iov, size_t n, size_t *got)
{
	struct cursor c = { iov, n, 0 };
	struct iovec piece[PIECES];
	size_t sum = 0;
	int used, ret = 0;

	while ((used = gather(&c, piece)) > 0) {
		ssize_t moved = t->ops->readv(t, piece, used);

		if (moved == -EINTR)
			continue;
		if (moved <= 0) {
			ret = moved ? (int)moved : -ENODATA;
			break;
		}
		t->bytes_read += (size_t)moved;
		sum += (size_t)moved;
		advance(&c, (size_t)moved);
	}
	if (got)
		*got = sum;
	return ret;
}

int xf_transport_writev(struct xf_transport *t, const struct iovec *iov, size_t n)
{
	struct cursor c = { iov, n, 0 };
	struct iovec piece[PIECES];
	int used;

	while ((used = gather(&c, piece)) > 0) {
		ssize_t moved = t->ops->writev(t, piece, used);

		if (moved == -EINTR)
			continue;
		if (moved < 0)
			return (int)moved;
		t->bytes_written += (size_t)moved;
		advance(&c, (size_t)moved);
	}
	return 0;
}

int xf_transport_read(struct xf_transport *t, void *buf, size_t len, size_t *got)
{
	struct iovec iov = { buf, len };

	return xf_transport_readv(t, &iov, 1, got);
}

int xf_transport_write(struct xf_transport *t, const void *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };

	return xf_transport_writev(t, &iov, 1);
}
