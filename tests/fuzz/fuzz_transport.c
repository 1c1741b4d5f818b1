/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the network transport reads from the other side, arbitrary bytes. The
 * first one says what the rest is: 0 a preamble, 1 a greeting, 2 frames, as a
 * session's receiver takes them, in one thread.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/net/codec.h"
#include "transport/net/hello.h"
#include "transport/net/order.h"

#define SLOTS 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

static void preamble(const uint8_t *data, size_t size)
{
	struct xf_error e = { 0 };
	struct xf_preamble p;
	int ret;

	if (size < XF_PREAMBLE)
		return;
	ret = xf_preamble_decode(data, &p, &e);
	check(!ret == !e.text[0]);
	check(ret || p.lane < XF_LANES_MAX);
}

static void hello(const uint8_t *data, size_t size)
{
	struct xf_error e = { 0 };
	const char *word = NULL;
	struct xf_hello h;
	size_t words = 0;
	uint16_t version;

	if (xf_hello_decode(data, size, &h, &e)) {
		check(e.code == -EPROTO && e.text[0]);
		return;
	}
	check(h.lanes && h.lanes <= XF_LANES_MAX && h.lane < h.lanes && h.words_len <= XF_HELLO_WORDS);
	check(strlen(h.software) < sizeof(h.software));
	while ((word = xf_hello_word(&h, word)))
		words += strlen(word) + 1;
	check(words == h.words_len);
	xf_hello_version(&h, &version, &e);
}

/* The bytes that are left after one frame, NULL where that was the last. */
static const uint8_t *frame(struct xf_order *o, struct xf_codec_state *codec, const uint8_t *at, const uint8_t *end)
{
	struct xf_error e = { 0 };
	struct xf_slot *slot;
	struct xf_frame f;

	if (end - at < (ptrdiff_t)XF_FRAME_HEAD || xf_frame_decode(at, 7, &f, &e))
		return NULL;
	check(f.wire_len <= XF_BLOCK && (f.type == XF_FRAME_EXIT || f.raw_len <= XF_BLOCK));
	at += XF_FRAME_HEAD;
	if (!xf_frame_is_ordered(&f))
		return f.type == XF_FRAME_BYE ? NULL : at;
	slot = xf_order_admit(o, &f, &e);
	check(!slot == (e.code == -EPROTO));
	if (!slot || end - at < (ptrdiff_t)f.wire_len)
		return NULL;
	if (f.wire_len && xf_codec_expand(codec, f.codec, slot->data, f.raw_len, at, f.wire_len))
		return NULL;
	xf_order_filled(o, slot);
	/* What is due goes out; what is ahead stays, as far as the window is. */
	while (o->slots[o->next % SLOTS].state == XF_SLOT_FULL) {
		slot = xf_order_due(o);
		check(slot && slot->frame.seq == o->next);
		xf_order_done(o, slot);
	}
	return at + f.wire_len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct xf_codec_state *codec;
	static struct xf_order o;
	const uint8_t *at;

	/* Once: their memory is large, and a fresh state is cheap. */
	if (!codec)
		check(!xf_codec_open(&codec) && !xf_order_open(&o, SLOTS, 1));
	for (unsigned i = 0; i < SLOTS; i++)
		o.slots[i].state = XF_SLOT_EMPTY;
	o.next = 0;
	if (!size)
		return 0;
	if (data[0] == 0)
		preamble(data + 1, size - 1);
	if (data[0] == 1)
		hello(data + 1, size - 1);
	if (data[0] != 2)
		return 0;
	for (at = data + 1; at; at = frame(&o, codec, at, data + size))
		;
	return 0;
}
