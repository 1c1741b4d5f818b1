/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/transport.h"

#include <string.h>

static ssize_t peek_readv(struct xf_transport *t, const struct iovec *iov, int n)
{
	struct xf_transport_peek *p = (struct xf_transport_peek *)t;
	size_t len;

	if (p->at == p->have)
		return p->inner->ops->readv(p->inner, iov, n);
	len = p->have - p->at;
	if (len > iov[0].iov_len)
		len = iov[0].iov_len;
	memcpy(iov[0].iov_base, p->head + p->at, len);
	p->at += len;
	return (ssize_t)len;
}

static ssize_t peek_writev(struct xf_transport *t, const struct iovec *iov, int n)
{
	struct xf_transport_peek *p = (struct xf_transport_peek *)t;

	return p->inner->ops->writev(p->inner, iov, n);
}

static const struct xf_transport_ops peek_ops = {
	.readv = peek_readv,
	.writev = peek_writev,
};

int xf_transport_peek_init(struct xf_transport_peek *t, struct xf_transport *inner)
{
	*t = (struct xf_transport_peek){ .base.ops = &peek_ops, .inner = inner };
	return xf_transport_read(inner, t->head, sizeof(t->head), &t->have);
}
