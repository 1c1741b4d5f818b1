/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/greet.h"

#include <errno.h>

int xf_hello_send(struct xf_link *l, const struct xf_hello *h, struct xf_error *e)
{
	uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS];

	return xf_link_write(l, bytes, xf_hello_encode(h, bytes), e);
}

int xf_hello_receive(struct xf_link *l, struct xf_hello *h, struct xf_error *e)
{
	uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS];
	size_t tail = 0;
	int ret;

	ret = xf_link_read(l, bytes, XF_HELLO_HEAD, e);
	if (!ret)
		ret = xf_hello_tail(bytes, &tail, e);
	if (!ret)
		ret = xf_link_read(l, bytes + XF_HELLO_HEAD, tail, e);
	return ret ? ret : xf_hello_decode(bytes, XF_HELLO_HEAD + tail, h, e);
}

void xf_links_close(struct xf_links *l)
{
	while (l->n)
		xf_link_close(&l->link[--l->n]);
}
