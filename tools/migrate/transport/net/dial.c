/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "transport/net/greet.h"

static int open_one(const struct xf_dial *d, struct xf_link *l, const struct xf_hello *h, struct xf_error *e)
{
	struct xf_preamble p = { .lane = h->lane };
	uint8_t bytes[XF_PREAMBLE];
	int fd, ret;

	fd = xf_tcp_connect(d->address, d->port, d->greet_ms, e);
	if (fd < 0)
		return fd;
	ret = xf_link_open(l, fd, e);
	if (ret)
		return ret;
	xf_link_deadline(l, d->greet_ms);
	memcpy(p.token, h->token, XF_TOKEN);
	xf_preamble_encode(&p, bytes);
	ret = xf_link_write(l, bytes, sizeof(bytes), e);
	if (!ret && d->identity)
		ret = xf_link_tls_client(l, d->identity, d->pin, e);
	if (!ret)
		ret = xf_hello_send(l, h, e);
	if (ret)
		xf_link_close(l);
	return ret;
}

/* The other side's sentence goes to a person's terminal: printable, or not at all. */
static int refused(const struct xf_hello *answer, struct xf_error *e)
{
	const char *word = xf_hello_word(answer, NULL);
	char text[XF_ERROR_TEXT - 64];
	size_t n = 0;

	for (; word && *word && n < sizeof(text) - 1; word++)
		text[n++] = *word >= ' ' && *word <= '~' ? *word : '?';
	text[n] = '\0';
	return xf_error_set(e, -ECONNREFUSED, "The other side refuses: %s", text);
}

static int check_answer(const struct xf_hello *mine, const struct xf_hello *answer, struct xf_error *e)
{
	uint16_t version;

	if (answer->status == XF_HELLO_REFUSED)
		return refused(answer, e);
	if (xf_hello_version(answer, &version, e))
		return e->code;
	if (answer->lanes > mine->lanes || answer->codecs & ~mine->codecs || answer->lane != mine->lane)
		return xf_error_set(e, -EPROTO, "The other side grants %u connections and codecs 0x%x, expected"
				    " no more than the %u and 0x%x asked for; it is broken.", answer->lanes,
				    answer->codecs, mine->lanes, mine->codecs);
	return 0;
}

static int greet(const struct xf_dial *d, struct xf_links *links, const struct xf_hello *mine,
		 struct xf_hello *answer, struct xf_error *e)
{
	struct xf_link *l = &links->link[links->n];
	int ret = open_one(d, l, mine, e);

	if (ret)
		return ret;
	links->n++;
	ret = xf_hello_receive(l, answer, e);
	if (ret)
		return ret;
	xf_link_deadline(l, 0);
	return check_answer(mine, answer, e);
}

int xf_dial(const struct xf_dial *d, struct xf_links *links, struct xf_hello *answer, struct xf_error *e)
{
	struct xf_hello mine = d->hello, again;
	int ret;

	mine.version_min = XF_PROTOCOL_MIN;
	mine.version_max = XF_PROTOCOL_MAX;
	links->n = 0;
	ret = greet(d, links, &mine, answer, e);
	mine.lanes = answer->lanes;
	mine.words_len = 0;
	memcpy(mine.token, answer->token, XF_TOKEN);
	while (!ret && links->n < answer->lanes) {
		mine.lane = (uint16_t)links->n;
		ret = greet(d, links, &mine, &again, e);
	}
	for (unsigned i = 0; i < links->n; i++)
		links->link[i].time_out_ms = (int)d->hello.time_out_ms;
	if (ret)
		xf_links_close(links);
	return ret;
}
