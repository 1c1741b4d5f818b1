// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/pace.h"

#include <time.h>

#include "engine/clock.h"

/* What was not used for so long is lost: a slow receiver is not caught up with by a burst. */
#define MEMORY_S 0.5

void pace_begin(struct pace *p, uint64_t written)
{
	if (p->limit <= 0 || p->from > 0)
		return;
	p->from = clock_now();
	p->base = written;
}

void pace_wait(struct pace *p, uint64_t written)
{
	double now, due;
	struct timespec nap;

	pace_begin(p, written);
	if (p->limit <= 0)
		return;
	now = clock_now();
	due = p->from + (double)(written - p->base) / p->limit;
	if (due < now - MEMORY_S) {
		p->from = now;
		p->base = written;
	}
	if (due <= now)
		return;
	nap.tv_sec = (time_t)(due - now);
	nap.tv_nsec = (long)((due - now - (double)nap.tv_sec) * 1e9);
	nanosleep(&nap, NULL);
}
