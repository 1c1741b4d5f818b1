/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t limited(const struct xf_transport_mem *m, size_t len)
{
	return m->step && len > m->step ? m->step : len;
}

static ssize_t mem_readv(struct xf_transport *t, const struct iovec *iov, int n)
{
	struct xf_transport_mem *m = (struct xf_transport_mem *)t;
	size_t left = limited(m, m->size - m->at), sum = 0;

	for (int i = 0; i < n && left; i++) {
		size_t len = iov[i].iov_len < left ? iov[i].iov_len : left;

		memcpy(iov[i].iov_base, m->data + m->at, len);
		m->at += len;
		left -= len;
		sum += len;
	}
	return (ssize_t)sum;
}

static int grow(struct xf_transport_mem *m, size_t need)
{
	size_t room = m->room ? m->room : 4096;
	uint8_t *data;

	while (room < need)
		room *= 2;
	if (room == m->room)
		return 0;
	data = realloc(m->data, room);
	if (!data)
		return -ENOMEM;
	m->data = data;
	m->room = room;
	return 0;
}

static ssize_t mem_writev(struct xf_transport *t, const struct iovec *iov, int n)
{
	struct xf_transport_mem *m = (struct xf_transport_mem *)t;
	size_t left, sum = 0;

	left = m->write_limit ? m->write_limit - m->size : SIZE_MAX;
	if (!left)
		return -EPIPE;
	left = limited(m, left);
	for (int i = 0; i < n && left; i++) {
		size_t len = iov[i].iov_len < left ? iov[i].iov_len : left;

		if (grow(m, m->size + len))
			return -ENOMEM;
		memcpy(m->data + m->size, iov[i].iov_base, len);
		m->size += len;
		left -= len;
		sum += len;
	}
	return (ssize_t)sum;
}

static const struct xf_transport_ops mem_ops = {
	.readv = mem_readv,
	.writev = mem_writev,
};

int xf_transport_mem_init(struct xf_transport_mem *t, const void *data, size_t len)
{
	*t = (struct xf_transport_mem){ .base.ops = &mem_ops };
	if (!len)
		return 0;
	if (grow(t, len))
		return -ENOMEM;
	memcpy(t->data, data, len);
	t->size = len;
	return 0;
}

void xf_transport_mem_free(struct xf_transport_mem *t)
{
	free(t->data);
	t->data = NULL;
}
