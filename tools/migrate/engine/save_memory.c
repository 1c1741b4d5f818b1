// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/clock.h"
#include "guest/failure.h"
#include "engine/save_internal.h"
#include "engine/save_pv.h"

/* ---- the pause ---------------------------------------------------------- */

static int suspend(struct save *s)
{
	const struct save_hooks *hooks = s->job->hooks;
	double begun = clock_now();
	struct guest_info now;
	int rc;

	save_throttle(s, 100);	/* it needs its CPU time to suspend; should it fail, it is tried again and told at the end */
	rc = hooks->suspend(hooks->data);
	if (rc)
		return xf_error_set(s->err, rc, "Suspending domain %u failed; see the toolstack's own"
				    " messages and whether the guest's kernel can suspend.",
				    s->guest->domid);
	s->suspended_at = clock_now();
	s->suspend_ms = (s->suspended_at - begun) * 1e3;
	stats_suspended(s->job->stats, s->suspend_ms);

	rc = s->pv ? save_pv_look_last(s) : 0;
	if (rc)
		return rc;
	rc = s->guest->ops->info(s->guest, &now);
	if (rc)
		return failure(s->err, rc, s->guest, "Looking at the suspended state");
	if (!now.suspended)
		return xf_error_set(s->err, -EIO, "Domain %u was to be suspended but %s (reason %u),"
				    " expected it to have shut down for a suspend (reason 2); look at"
				    " the guest's console.", s->guest->domid,
				    now.shut_down ? "shut down otherwise" : "runs", now.reason);
	s->frames_now = now.frames;
	s->batch->running = false;
	report_progress(s->job->report, "Domain now suspended", 0, 0);
	return 0;
}

/* ---- the last copy ------------------------------------------------------ */

static int longer(uint64_t **map, uint64_t from, uint64_t to)
{
	size_t old = xcbatch_bitmap_words(from), words = xcbatch_bitmap_words(to);
	uint64_t *p = reallocarray(*map, words, sizeof(*p));

	if (!p)
		return -ENOMEM;
	memset(p + old, 0, (words - old) * sizeof(*p));
	*map = p;
	return 0;
}

/* Frames the guest got above its highest one while it was copied: nobody tracked them, so they all go. */
static int cover_growth(struct save *s)
{
	uint64_t had = s->info.frames, has = s->frames_now;

	if (has <= had)
		return 0;
	if (longer(&s->dirty, had, has) || longer(&s->deferred, had, has) ||
	    longer(&s->batch->ram, had, has))
		return xf_error_set(s->err, -ENOMEM, "No memory for bitmaps of the %llu pages that domain"
				    " %u has grown to; free some memory in Dom0.",
				    (unsigned long long)has, s->guest->domid);
	s->batch->deferred = s->deferred;
	s->info.frames = has;
	while (had < has)
		xcbatch_bitmap_set(s->dirty, had++);
	return 0;
}

static int last_copy(struct save *s)
{
	uint64_t found, to_send;
	int rc = save_collect(s, true, &found);

	s->collected_at = clock_now();
	if (!rc)
		rc = cover_growth(s);
	if (rc)
		return rc;
	xcbatch_bitmap_or(s->dirty, s->deferred, s->info.frames);
	to_send = xcbatch_bitmap_count(s->dirty, s->info.frames);
	rc = save_live_round(s, to_send);
	if (rc)
		return rc;
	save_tell_round(s, -1);
	return 0;
}

/* All of memory again, for the receiver to compare with what it has. */
static int verify(struct save *s)
{
	int rc = xf_writer_blob(s->writer, XF_REC_VERIFY, NULL, 0);

	if (rc)
		return failure_from(s->err, xf_writer_error(s->writer));
	xcbatch_bitmap_fill(s->dirty, s->info.frames);
	s->batch->fresh = true;
	s->batch->elide_zeroes = false;
	rc = save_send_marked(s, "Frames verify", s->info.frames);
	s->batch->fresh = false;
	return rc;
}

static int memory_live(struct save *s)
{
	int rc = save_track(s);

	if (rc)
		return rc;
	s->batch->running = true;
	rc = s->guest->ops->held(s->guest, &s->held);
	if (rc)
		return failure(s->err, rc, s->guest, "Looking at the memory");
	rc = save_precopy(s);
	if (!rc)
		rc = suspend(s);
	if (!rc)
		rc = last_copy(s);
	return rc;
}

static int memory_suspended(struct save *s)
{
	int rc = suspend(s);

	if (!rc)
		rc = cover_growth(s);
	if (rc)
		return rc;
	xcbatch_bitmap_fill(s->dirty, s->info.frames);
	rc = save_round(s, "Frames", s->info.frames);
	save_tell_round(s, -1);
	return rc;
}

int save_memory(struct save *s)
{
	int rc;

	s->batch->fresh = true;
	s->batch->count_zeroes = stats_wanted(s->job->stats);
	rc = s->job->live ? memory_live(s) : memory_suspended(s);
	if (rc)
		return rc;
	s->copied_at = clock_now();
	s->pages = s->batch->pages;
	rc = s->job->live && s->job->verify ? verify(s) : 0;
	s->state_begun_at = clock_now();
	return rc;
}
