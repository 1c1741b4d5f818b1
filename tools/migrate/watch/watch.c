// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <xcbatch.h>

#include "engine/clock.h"

static int note(struct watched *w, double seconds, uint64_t pages)
{
	if (w->n == w->room) {
		size_t room = w->room ? w->room * 2 : 64;
		struct dirty_sample *more = reallocarray(w->samples, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		w->samples = more;
		w->room = room;
	}
	w->samples[w->n++] = (struct dirty_sample) { seconds, pages };
	return 0;
}

/*
 * Xen counts a page once, when it is first written, so the looks give the curve of
 * different pages over time. Only that count is read: to collect the pages would take them from
 * anybody who began a migration meanwhile.
 */
static int look(struct guest *g, const struct watch_plan *plan, struct watched *w)
{
	double begun = clock_now(), now = 0;
	uint64_t pages = 0, before = 0;
	int rc = note(w, 0, 0);

	while (!rc && now < plan->seconds) {
		double left = plan->seconds - now;

		rc = plan->wait(plan->ctx, left < plan->interval ? left : plan->interval, now, pages);
		if (!rc)
			rc = g->ops->dirty_peek(g, &pages);
		if (!rc && pages < before)
			rc = -ESTALE;
		if (rc)
			break;
		before = pages;
		now = clock_now() - begun;
		rc = note(w, now, pages);
	}
	return rc;
}

/* The count begins with what an earlier tracking left; only a collection puts it to 0. */
static int begin_anew(struct guest *g, uint64_t frames)
{
	uint64_t *map = calloc(xcbatch_bitmap_words(frames), sizeof(*map)), found;
	int rc = map ? g->ops->dirty_collect(g, false, map, &found) : -ENOMEM;

	free(map);
	return rc;
}

int watch_guest(struct guest *g, const struct watch_plan *plan, struct watched *out)
{
	uint64_t held;
	int rc, off;

	*out = (struct watched) { .n = 0 };
	rc = g->ops->info(g, &out->info);
	if (!rc && out->info.shut_down)
		rc = -EHOSTDOWN;
	if (!rc)
		rc = g->ops->held(g, &held);
	if (!rc)
		rc = g->ops->dirty_start(g, out->info.frames);
	if (rc)
		return rc;
	rc = begin_anew(g, out->info.frames);
	if (!rc)
		rc = look(g, plan, out);
	off = g->ops->dirty_stop(g);
	out->curve = (struct dirty_curve) { out->samples, out->n, held };
	return rc ? rc : off;
}

void watched_free(struct watched *w)
{
	free(w->samples);
	w->samples = NULL;
}
