/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One connection of a session: what is sent over it and what comes in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/net/session_internal.h"
#include "transport/net/when.h"

#define WORTH_COMPRESSING 1024u	/* bytes; what is smaller is a message, not memory */
#define PACED_PIECE	  16384u

int xf_lane_open(struct xf_lane *l, struct xf_session *s, struct xf_link *link)
{
	*l = (struct xf_lane){ .session = s, .link = link };
	l->packed_out = malloc(XF_FRAME_HEAD + XF_BLOCK);
	l->packed_in = malloc(XF_BLOCK);
	if (!l->packed_out || !l->packed_in || xf_codec_open(&l->codec_out) || xf_codec_open(&l->codec_in)) {
		xf_lane_close(l);
		return -ENOMEM;
	}
	xf_advice_init(&l->advice, s->setup->codec, s->setup->codecs, s->setup->n_links);
	return 0;
}

void xf_lane_close(struct xf_lane *l)
{
	xf_codec_close(l->codec_in);
	xf_codec_close(l->codec_out);
	free(l->packed_in);
	free(l->packed_out);
}

/* ---- sending -------------------------------------------------------------- */

static void wait_for_budget(struct xf_session *s, uint32_t bytes)
{
	struct timespec t;
	uint64_t ns;

	pthread_mutex_lock(&s->lock);
	ns = xf_pace_take(&s->pace, bytes, xf_now_ns());
	pthread_mutex_unlock(&s->lock);
	t.tv_sec = (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	while (ns && clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

static int send_bytes(struct xf_lane *l, const uint8_t *bytes, uint32_t len, struct xf_error *e)
{
	int ret = 0;

	if (!l->session->setup->bandwidth)
		return xf_link_write(l->link, bytes, len, e);
	while (len && !ret) {
		uint32_t piece = len < PACED_PIECE ? len : PACED_PIECE;

		wait_for_budget(l->session, piece);
		ret = xf_link_write(l->link, bytes, piece, e);
		bytes += piece;
		len -= piece;
	}
	return ret;
}

static int send_control(struct xf_lane *l, uint8_t type, struct xf_error *e)
{
	const struct xf_frame f = { .type = type };
	uint8_t head[XF_FRAME_HEAD];

	xf_frame_encode(&f, head);
	return send_bytes(l, head, sizeof(head), e);
}

/* Pieces from all over the block, since one page says nothing about the next. */
static void sample(struct xf_lane *l, const struct xf_block *b)
{
	const uint8_t *contents = b->space + XF_FRAME_HEAD;
	uint32_t at = 0, step = b->frame.raw_len - XF_ADVICE_PIECE;

	/* Somewhere else each time; the number of the block is as good as any. */
	if (step)
		at = (uint32_t)(b->frame.seq * 40503u % step) & ~4095u;
	for (int i = XF_CODEC_NONE + 1; i < XF_CODECS; i++) {
		uint64_t t0 = xf_now_ns();
		size_t made = xf_codec_compress(l->codec_out, (enum xf_codec)i, l->packed_out, contents + at,
						XF_ADVICE_PIECE);

		xf_advice_sample(&l->advice, (enum xf_codec)i, XF_ADVICE_PIECE, (uint32_t)made, xf_now_ns() - t0);
	}
}

static void note_exit(struct xf_session *s)
{
	pthread_mutex_lock(&s->lock);
	s->exit_sent = 1;
	pthread_mutex_unlock(&s->lock);
}

static int send_block(struct xf_lane *l, struct xf_block *b, struct xf_error *e)
{
	struct xf_frame f = b->frame;
	uint8_t *bytes = b->space;
	size_t made = 0;

	if (f.type == XF_FRAME_EXIT)
		note_exit(l->session);
	f.codec = XF_CODEC_NONE;
	f.wire_len = f.type == XF_FRAME_DATA ? f.raw_len : 0;
	if (f.wire_len >= WORTH_COMPRESSING)
		made = xf_codec_compress(l->codec_out, xf_advice_codec(&l->advice), l->packed_out + XF_FRAME_HEAD,
					 bytes + XF_FRAME_HEAD, f.raw_len);
	if (made) {
		f.codec = (uint8_t)xf_advice_codec(&l->advice);
		f.wire_len = (uint32_t)made;
		bytes = l->packed_out;
	}
	xf_frame_encode(&f, bytes);
	l->blocks[f.codec]++;
	l->raw_sent += f.type == XF_FRAME_DATA ? f.raw_len : 0;
	return send_bytes(l, bytes, XF_FRAME_HEAD + f.wire_len, e);
}

static int send_and_learn(struct xf_lane *l, struct xf_block *b, struct xf_error *e)
{
	uint64_t t0;
	int ret;

	/* Small ones say nothing about the link. */
	if (b->frame.type != XF_FRAME_DATA || b->frame.raw_len < XF_ADVICE_PIECE)
		return send_block(l, b, e);
	if (xf_advice_wants_sample(&l->advice))
		sample(l, b);
	t0 = xf_now_ns();
	ret = send_block(l, b, e);
	xf_advice_sent(&l->advice, b->frame.raw_len, xf_now_ns() - t0);
	return ret;
}

static int send_all(struct xf_lane *l, struct xf_error *e)
{
	struct xf_session *s = l->session;
	struct xf_error ignored = { 0 };
	enum xf_supply_why why;
	int ret = 0;

	while (!ret) {
		struct xf_block *b = xf_supply_take(&s->supply, s->setup->keep_alive_ms, &why);

		if (b) {
			ret = send_and_learn(l, b, e);
			xf_supply_release(&s->supply, b);
		} else if (why == XF_SUPPLY_IDLE) {
			ret = send_control(l, XF_FRAME_PING, e);
		} else {
			/* Who has heard all may be gone already. */
			if (why == XF_SUPPLY_ENDED)
				send_control(l, XF_FRAME_BYE, &ignored);
			return 0;
		}
	}
	return ret;
}

static void gone(struct xf_session *s, unsigned *count)
{
	pthread_mutex_lock(&s->lock);
	--*count;
	if (count == &s->receivers)
		xf_order_leave(&s->order);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void *xf_lane_send(void *lane)
{
	struct xf_lane *l = lane;
	struct xf_error e = { 0 };

	if (send_all(l, &e))
		xf_session_fail(l->session, &e);
	gone(l->session, &l->session->senders);
	return NULL;
}

/* ---- receiving -------------------------------------------------------------- */

static int take_contents(struct xf_lane *l, struct xf_slot *slot, struct xf_error *e)
{
	const struct xf_frame *f = &slot->frame;
	int ret;

	if (f->codec == XF_CODEC_NONE)
		return xf_link_read(l->link, slot->data, f->wire_len, e);
	ret = xf_link_read(l->link, l->packed_in, f->wire_len, e);
	if (ret)
		return ret;
	ret = xf_codec_expand(l->codec_in, f->codec, slot->data, f->raw_len, l->packed_in, f->wire_len);
	if (ret)
		return xf_error_set(e, ret, "A frame's contents don't expand (%s) to the %u bytes it names;"
				    " the other side is broken.", xf_codec_name(f->codec), f->raw_len);
	return 0;
}

static int take_frame(struct xf_lane *l, const struct xf_frame *f, struct xf_error *e)
{
	struct xf_slot *slot = xf_order_admit(&l->session->order, f, e);
	int ret;

	if (!slot)
		return e->code ? e->code : -ECANCELED;
	ret = f->type == XF_FRAME_DATA ? take_contents(l, slot, e) : 0;
	if (!ret)
		xf_order_filled(&l->session->order, slot);
	return ret;
}

static int receive_all(struct xf_lane *l, struct xf_error *e)
{
	uint8_t head[XF_FRAME_HEAD];
	struct xf_frame f;
	int ret;

	for (;;) {
		ret = xf_link_read(l->link, head, sizeof(head), e);
		if (!ret)
			ret = xf_frame_decode(head, l->session->setup->codecs | 1u << XF_CODEC_NONE, &f, e);
		if (ret || f.type == XF_FRAME_BYE)
			return ret;
		if (f.type != XF_FRAME_PING)
			ret = take_frame(l, &f, e);
		if (ret)
			return ret;
	}
}

void *xf_lane_receive(void *lane)
{
	struct xf_lane *l = lane;
	struct xf_error e = { 0 };

	if (receive_all(l, &e) && e.code)
		xf_session_fail(l->session, &e);
	gone(l->session, &l->session->receivers);
	return NULL;
}
