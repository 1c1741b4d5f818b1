/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which codec to use now, from what was measured: no clock, no I/O, so that a
 * test can play any link. One belongs to one connection's sender.
 *
 * It goes in stretches of some MiB. What a stretch without compression cost
 * is the yardstick; samples of the contents say what each codec would cost, at
 * best the link's part of what is left or the compressor's time, whichever is
 * more. One that promises a tenth or more is tried for a stretch, and stays
 * only as long as it is really cheaper, from end to end: a receiver that
 * expands slowly counts, too. The yardstick is taken anew from time to time.
 */
#ifndef XENFERRY_NET_ADVICE_H
#define XENFERRY_NET_ADVICE_H

#include <stdint.h>

#include "transport/net/frame.h"

#define XF_ADVICE_AUTO  (-1)
#define XF_ADVICE_PIECE 16384u	/* bytes of contents that make a sample */

struct xf_advice {
	int fixed;			/* a codec, or XF_ADVICE_AUTO */
	uint32_t allowed;		/* a bit for each codec */
	enum xf_codec now;
	int want_sample;
	uint64_t stretch;		/* raw bytes of one */
	uint64_t settle, settle_ns;	/* left until measuring begins: what is queued was sent otherwise */
	uint64_t bytes, ns;		/* measured in this stretch */
	uint64_t without;		/* raw bytes since the last stretch without compression */
	uint64_t patience;		/* stretches without compression grow while nothing promises to help */
	double cost[XF_CODECS];		/* ns a raw byte, as measured; 0: not known */
	double promise[XF_CODECS];	/* the same, as samples have it */
	uint64_t hold[XF_CODECS];	/* raw bytes for which it isn't tried */
	uint64_t back_off[XF_CODECS];
	uint64_t switches;
};

/* lanes: connections that share the link. */
void xf_advice_init(struct xf_advice *a, int fixed, uint32_t allowed, unsigned lanes);
/* For the next block. */
enum xf_codec xf_advice_codec(const struct xf_advice *a);
/* Whether the next block's contents shall be sampled, with each codec that is allowed. */
int xf_advice_wants_sample(const struct xf_advice *a);
void xf_advice_sample(struct xf_advice *a, enum xf_codec codec, uint32_t raw, uint32_t made, uint64_t ns);
/* A block has gone out: the time from having it to having sent it. */
void xf_advice_sent(struct xf_advice *a, uint32_t raw, uint64_t ns);

#endif
