/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/pace.h"

#define SECOND_NS 1000000000u
#define SAVED_NS  100000000u

uint64_t xf_pace_take(struct xf_pace *p, uint64_t bytes, uint64_t now_ns)
{
	uint64_t start = p->free_at_ns, floor = now_ns > SAVED_NS ? now_ns - SAVED_NS : 0;

	if (!p->rate)
		return 0;
	if (start < floor)
		start = floor;
	p->free_at_ns = start + bytes / p->rate * SECOND_NS + bytes % p->rate * SECOND_NS / p->rate;
	return start > now_ns ? start - now_ns : 0;
}
