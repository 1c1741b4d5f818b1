/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/hello.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/net/frame.h"

static const char magic[8] = { 'x', 'e', 'n', 'f', 'e', 'r', 'r', 'y' };

struct wire_preamble {
	char magic[8];
	uint16_t version;	/* of the preamble; all little-endian */
	uint16_t lane;
	uint32_t zero;
	uint8_t token[XF_TOKEN];
};
_Static_assert(sizeof(struct wire_preamble) == XF_PREAMBLE, "the preamble has no padding");

struct wire_hello {
	char magic[4];		/* "XFHI" */
	uint16_t version_min, version_max;
	uint16_t status, lane, lanes, words_len;
	uint32_t codecs;
	uint32_t time_out_ms;
	uint64_t features;
	uint8_t token[XF_TOKEN];
	char software[16];
};
_Static_assert(sizeof(struct wire_hello) == XF_HELLO_HEAD, "the greeting's head has no padding");

void xf_preamble_encode(const struct xf_preamble *p, uint8_t bytes[XF_PREAMBLE])
{
	struct wire_preamble w = { .version = htole16(1), .lane = htole16(p->lane) };

	memcpy(w.magic, magic, sizeof(magic));
	memcpy(w.token, p->token, XF_TOKEN);
	memcpy(bytes, &w, sizeof(w));
}

int xf_preamble_decode(const uint8_t bytes[XF_PREAMBLE], struct xf_preamble *p, struct xf_error *e)
{
	struct wire_preamble w;

	memcpy(&w, bytes, sizeof(w));
	if (memcmp(w.magic, magic, sizeof(magic)))
		return xf_error_set(e, -EPROTO, "The connection began with other bytes than \"xenferry\":"
				    " something else than \"xenferry connect\" called.");
	if (le16toh(w.version) != 1 || w.zero)
		return xf_error_set(e, -EPROTO, "The connection began with preamble version %u, expected 1;"
				    " install the same xenferry on both hosts.", le16toh(w.version));
	p->lane = le16toh(w.lane);
	memcpy(p->token, w.token, XF_TOKEN);
	if (p->lane >= XF_LANES_MAX)
		return xf_error_set(e, -EPROTO, "The connection calls itself number %u, expected at most %u;"
				    " the other side is broken.", p->lane, XF_LANES_MAX - 1);
	return 0;
}

size_t xf_hello_encode(const struct xf_hello *h, uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS])
{
	struct wire_hello w = {
		.magic = { 'X', 'F', 'H', 'I' },
		.version_min = htole16(h->version_min), .version_max = htole16(h->version_max),
		.status = htole16(h->status), .lane = htole16(h->lane), .lanes = htole16(h->lanes),
		.words_len = htole16(h->words_len), .codecs = htole32(h->codecs),
		.time_out_ms = htole32(h->time_out_ms), .features = htole64(h->features),
	};

	memcpy(w.token, h->token, XF_TOKEN);
	memcpy(w.software, h->software, strnlen(h->software, sizeof(w.software) - 1));
	memcpy(bytes, &w, sizeof(w));
	memcpy(bytes + sizeof(w), h->words, h->words_len);
	return sizeof(w) + h->words_len;
}

int xf_hello_tail(const uint8_t head[XF_HELLO_HEAD], size_t *tail, struct xf_error *e)
{
	struct wire_hello w;

	memcpy(&w, head, sizeof(w));
	if (memcmp(w.magic, "XFHI", 4))
		return xf_error_set(e, -EPROTO, "The greeting began with other bytes than \"XFHI\": the other"
				    " side is no xenferry, or one with TLS and one without.");
	*tail = le16toh(w.words_len);
	if (*tail > XF_HELLO_WORDS)
		return xf_error_set(e, -EPROTO, "The greeting has %zu bytes of words, expected at most %u;"
				    " the other side is broken.", *tail, XF_HELLO_WORDS);
	return 0;
}

static int check(const struct xf_hello *h, struct xf_error *e)
{
	if (!h->version_min || h->version_min > h->version_max)
		return xf_error_set(e, -EPROTO, "The greeting has versions %u to %u, expected a range;"
				    " the other side is broken.", h->version_min, h->version_max);
	if (!h->lanes || h->lanes > XF_LANES_MAX || h->lane >= h->lanes)
		return xf_error_set(e, -EPROTO, "The greeting is of connection %u of %u, expected 1 to %u of"
				    " them; the other side is broken.", h->lane, h->lanes, XF_LANES_MAX);
	if (!h->time_out_ms || h->status > XF_HELLO_REFUSED ||
	    (h->words_len && h->words[h->words_len - 1]))
		return xf_error_set(e, -EPROTO, "The greeting has status %u, a time-out of %u ms, and words"
				    " that %s; the other side is broken.", h->status, h->time_out_ms,
				    h->words_len && h->words[h->words_len - 1] ? "don't end" : "end");
	/* It gets into a log and an environment. */
	for (const char *c = h->software; *c; c++)
		if (!strchr("0123456789abcdefghijklmnopqrstuvwxyz.-+~", *c))
			return xf_error_set(e, -EPROTO, "The greeting has a software version with byte 0x%02x,"
					    " expected digits, letters and dots; the other side is broken.",
					    (unsigned char)*c);
	return 0;
}

int xf_hello_decode(const uint8_t *bytes, size_t len, struct xf_hello *h, struct xf_error *e)
{
	struct wire_hello w;
	size_t tail;
	int ret;

	if (len < sizeof(w))
		return xf_error_set(e, -EPROTO, "The greeting has %zu bytes, expected %u and more.", len,
				    XF_HELLO_HEAD);
	ret = xf_hello_tail(bytes, &tail, e);
	if (ret)
		return ret;
	if (len != sizeof(w) + tail)
		return xf_error_set(e, -EPROTO, "The greeting has %zu bytes, expected %zu.", len,
				    sizeof(w) + tail);
	memcpy(&w, bytes, sizeof(w));
	*h = (struct xf_hello){
		.version_min = le16toh(w.version_min), .version_max = le16toh(w.version_max),
		.status = le16toh(w.status), .lane = le16toh(w.lane), .lanes = le16toh(w.lanes),
		.codecs = le32toh(w.codecs) & ((1u << XF_CODECS) - 1),
		.time_out_ms = le32toh(w.time_out_ms), .features = le64toh(w.features),
		.words_len = (uint16_t)tail,
	};
	memcpy(h->token, w.token, XF_TOKEN);
	memcpy(h->software, w.software, sizeof(w.software) - 1);
	memcpy(h->words, bytes + sizeof(w), tail);
	return check(h, e);
}

const char *xf_hello_word(const struct xf_hello *h, const char *last)
{
	const char *next = last ? last + strlen(last) + 1 : h->words;

	return next < h->words + h->words_len ? next : NULL;
}

int xf_hello_add_word(struct xf_hello *h, const char *word)
{
	size_t len = strlen(word) + 1;

	if (len > sizeof(h->words) - h->words_len)
		return -E2BIG;
	memcpy(h->words + h->words_len, word, len);
	h->words_len = (uint16_t)(h->words_len + len);
	return 0;
}

int xf_hello_version(const struct xf_hello *theirs, uint16_t *version, struct xf_error *e)
{
	if (theirs->version_min > XF_PROTOCOL_MAX || theirs->version_max < XF_PROTOCOL_MIN)
		return xf_error_set(e, -EPROTONOSUPPORT, "The other side (xenferry %s) speaks versions %u to"
				    " %u of the protocol, this one %u to %u; install the same xenferry on"
				    " both hosts.", theirs->software, theirs->version_min,
				    theirs->version_max, XF_PROTOCOL_MIN, XF_PROTOCOL_MAX);
	*version = theirs->version_max < XF_PROTOCOL_MAX ? theirs->version_max : XF_PROTOCOL_MAX;
	return 0;
}
