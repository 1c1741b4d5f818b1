/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/advice.h"

#define MIB (1ull << 20)

#define STRETCH	    (8 * MIB)
#define STRETCH_NS  250000000u	/* on a slow link a stretch ends by time */
#define RECHECK	    32u		/* stretches with compression until one without */
#define BACK_OFF    (64 * MIB)
#define BACK_OFF_MAX (4096 * MIB)
#define PATIENCE_MAX 16u	/* stretches */

#define WORTH_TRYING 0.90	/* of the cost without compression */
#define WORTH_KEEPING 0.95

static void begin(struct xf_advice *a, enum xf_codec codec)
{
	if (codec != a->now)
		a->switches++;
	a->settle = codec != a->now ? a->stretch : 0;
	a->settle_ns = a->settle ? STRETCH_NS : 0;
	a->now = codec;
	a->bytes = a->ns = 0;
}

void xf_advice_init(struct xf_advice *a, int fixed, uint32_t allowed, unsigned lanes)
{
	*a = (struct xf_advice){
		.fixed = fixed, .allowed = allowed | 1u << XF_CODEC_NONE,
		.stretch = STRETCH / (lanes ? lanes : 1), .patience = 1,
	};
	for (int i = 0; i < XF_CODECS; i++)
		a->back_off[i] = BACK_OFF;
	/* The first bytes go into empty buffers: they say nothing. */
	a->settle = a->stretch / 2;
	a->settle_ns = STRETCH_NS;
	if (fixed != XF_ADVICE_AUTO)
		a->now = (a->allowed & (1u << fixed)) ? (enum xf_codec)fixed : XF_CODEC_NONE;
}

enum xf_codec xf_advice_codec(const struct xf_advice *a)
{
	return a->now;
}

int xf_advice_wants_sample(const struct xf_advice *a)
{
	return a->want_sample;
}

void xf_advice_sample(struct xf_advice *a, enum xf_codec codec, uint32_t raw, uint32_t made, uint64_t ns)
{
	double compress = (double)ns / raw, link = a->cost[XF_CODEC_NONE] * (made ? made : raw) / raw;
	double promise = compress > link ? compress : link;

	/* One piece says little about a guest's memory: the average of the last few. */
	a->promise[codec] = a->promise[codec] > 0 ? (a->promise[codec] + promise) / 2 : promise;
}

/* The codec that promises most, NONE where none promises enough. */
static enum xf_codec best(const struct xf_advice *a)
{
	enum xf_codec found = XF_CODEC_NONE;
	double cost = a->cost[XF_CODEC_NONE] * WORTH_TRYING;

	for (int i = XF_CODEC_NONE + 1; i < XF_CODECS; i++)
		if ((a->allowed & (1u << i)) && !a->hold[i] && a->promise[i] > 0 && a->promise[i] < cost) {
			found = (enum xf_codec)i;
			cost = a->promise[i];
		}
	return found;
}

static void after_without(struct xf_advice *a)
{
	enum xf_codec next;

	if (a->want_sample) {	/* sampled since the stretch ended */
		a->want_sample = 0;
		next = best(a);
		a->patience = next != XF_CODEC_NONE ? 1 : a->patience < PATIENCE_MAX ? a->patience * 2 : PATIENCE_MAX;
		a->without = 0;
		begin(a, next);
		return;
	}
	a->want_sample = 1;
	begin(a, XF_CODEC_NONE);
}

static void after_with(struct xf_advice *a)
{
	enum xf_codec now = a->now;

	a->without += a->bytes;
	if (a->cost[now] > a->cost[XF_CODEC_NONE] * WORTH_KEEPING) {
		a->hold[now] = a->back_off[now];
		if (a->back_off[now] < BACK_OFF_MAX)
			a->back_off[now] *= 2;
		begin(a, XF_CODEC_NONE);
		return;
	}
	a->back_off[now] = BACK_OFF;
	begin(a, a->without >= RECHECK * a->stretch ? XF_CODEC_NONE : now);
}

static int stretch_is_over(const struct xf_advice *a)
{
	uint64_t whole = a->stretch * (a->now == XF_CODEC_NONE ? a->patience : 1);

	/* Samples are taken of the block that goes out next; then the stretch has served. */
	return a->want_sample || a->bytes >= whole || a->ns >= STRETCH_NS;
}

void xf_advice_sent(struct xf_advice *a, uint32_t raw, uint64_t ns)
{
	if (a->fixed != XF_ADVICE_AUTO)
		return;
	for (int i = 0; i < XF_CODECS; i++)
		a->hold[i] -= a->hold[i] < raw ? a->hold[i] : raw;
	if (a->settle && a->settle_ns) {
		a->settle -= a->settle < raw ? a->settle : raw;
		a->settle_ns -= a->settle_ns < ns ? a->settle_ns : ns;
		return;
	}
	a->bytes += raw;
	a->ns += ns;
	if (!stretch_is_over(a))
		return;
	if (!a->want_sample)
		a->cost[a->now] = (double)a->ns / (double)a->bytes;
	if (a->now == XF_CODEC_NONE)
		after_without(a);
	else
		after_with(a);
}
