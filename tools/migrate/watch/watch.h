/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Watches how a running guest dirties its memory, without moving it. */
#ifndef XENFERRY_WATCH_H
#define XENFERRY_WATCH_H

#include "guest/guest.h"
#include "policy/forecast.h"

struct watch_plan {
	double seconds;		/* how long */
	double interval;	/* between two looks, in seconds */
	/*
	 * Waits until the next look; seconds and pages: so far. Anything but 0 ends the watch
	 * at once, and is what watch_guest returns.
	 */
	int (*wait)(void *ctx, double interval, double seconds, uint64_t pages);
	void *ctx;
};

struct watched {
	struct guest_info info;
	struct dirty_sample *samples;	/* free with watched_free */
	size_t n, room;
	struct dirty_curve curve;	/* of them */
};

/*
 * Switches log-dirty on, looks at it without taking anything from it, and switches it off,
 * whatever happens. 0 or a negative errno, those of xcbatch_dirty_start among them, and:
 * -EHOSTDOWN: it doesn't run; -ESTALE: somebody else took log-dirty over while we watched,
 * and has it still.
 */
int watch_guest(struct guest *g, const struct watch_plan *plan, struct watched *out);
void watched_free(struct watched *w);

#endif
