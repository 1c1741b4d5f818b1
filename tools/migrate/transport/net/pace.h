/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bandwidth limit, as pure arithmetic: the caller has the clock and does the waiting. */
#ifndef XENFERRY_NET_PACE_H
#define XENFERRY_NET_PACE_H

#include <stdint.h>

#define XF_PACE_MIN 65536u	/* bytes a second; below, a block would take longer than a time-out */

struct xf_pace {
	uint64_t rate;		/* bytes a second, 0: no limit */
	uint64_t free_at_ns;	/* when all that was granted has gone out at that rate */
};

/*
 * Takes bytes from the budget; the answer is how many ns to wait before
 * sending them. A pause of the sender saves up to 100 ms of budget, no more.
 */
uint64_t xf_pace_take(struct xf_pace *p, uint64_t bytes, uint64_t now_ns);

#endif
