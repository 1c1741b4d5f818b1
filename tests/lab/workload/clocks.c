// SPDX-License-Identifier: LGPL-2.1-or-later
#include "clocks.h"

#include <time.h>

static int64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void widen(int64_t *gap, int64_t *last, int64_t seen)
{
	if (seen - *last > *gap)
		*gap = seen - *last;
	*last = seen;
}

void clocks_start(struct clocks *clocks)
{
	clocks->real = now(CLOCK_REALTIME);
	clocks->boot = now(CLOCK_BOOTTIME);
	clocks->mono = now(CLOCK_MONOTONIC);
	clocks->backwards = 0;
	clocks_reset_gaps(clocks);
}

void clocks_look(struct clocks *clocks)
{
	int64_t mono = now(CLOCK_MONOTONIC);

	if (mono < clocks->mono)
		clocks->backwards++;
	widen(&clocks->mono_gap, &clocks->mono, mono);
	widen(&clocks->real_gap, &clocks->real, now(CLOCK_REALTIME));
	widen(&clocks->boot_gap, &clocks->boot, now(CLOCK_BOOTTIME));
}

void clocks_reset_gaps(struct clocks *clocks)
{
	clocks->real_gap = clocks->boot_gap = clocks->mono_gap = 0;
}
