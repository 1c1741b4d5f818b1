// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <xcbatch.h>

#include "engine/clock.h"
#include "guest/failure.h"
#include "engine/save_internal.h"

/* Pages between two words about progress: 4 MiB. */
#define PROGRESS_PAGES 1024

/* The time the user gave is over: what this round has not sent yet waits for the last copy. */
static bool cut_short(struct save *s, uint64_t from)
{
	const struct policy_limits *limits = s->job->limits;

	if (!s->batch->running || s->job->hooks->policy || !limits || limits->max_time_s <= 0 ||
	    clock_now() - s->began_at < limits->max_time_s)
		return false;
	for (uint64_t pfn = from; pfn < s->info.frames;
	     pfn = xcbatch_bitmap_next(s->dirty, s->info.frames, pfn + 1))
		xcbatch_bitmap_set(s->deferred, pfn);
	return true;
}

/*
 * Xen does not log a page that is given to a guest while log-dirty is on, nor
 * what is written there until the pages are collected next. A change of how
 * many the guest has is how we learn of it.
 */
int save_watch_memory(struct save *s)
{
	uint64_t held;
	int rc;

	if (!s->tracking)
		return 0;
	rc = s->guest->ops->held(s->guest, &held);
	if (rc)
		return failure(s->err, rc, s->guest, "Looking at the memory");
	s->ballooned = s->ballooned || held != s->held;
	s->held = held;
	return 0;
}

static void tell_progress(const struct save *s, const char *name, uint64_t sent, uint64_t of)
{
	const struct policy_measured *m = &s->measured;
	const struct stats_progress p = {
		.round = s->round, .sent = sent, .of = of, .bytes = s->job->out->bytes_written,
		.dirty_rate = m->round ? m->dirty_rate : -1,
	};

	report_progress(s->job->report, name, sent, of);
	stats_progress(s->job->stats, &p);
}

int save_send_marked(struct save *s, const char *name, uint64_t of)
{
	uint64_t frames = s->info.frames, sent = 0;
	int rc;

	for (uint64_t pfn = xcbatch_bitmap_next(s->dirty, frames, 0); pfn < frames;
	     pfn = xcbatch_bitmap_next(s->dirty, frames, pfn + 1)) {
		if (sent++ % PROGRESS_PAGES == 0) {
			tell_progress(s, name, sent - 1, of);
			rc = save_watch_memory(s);
			if (rc)
				return rc;
			s->out_of_time = cut_short(s, pfn);
			if (s->out_of_time)
				break;
		}
		rc = batch_add(s->batch, pfn, s->err);
		if (rc)
			return rc;
	}
	rc = batch_flush(s->batch, s->err);
	if (!rc && of)
		report_progress(s->job->report, name, of, of);
	return rc;
}

void save_tell_round(struct save *s, int64_t dirty)
{
	if (!s->done_untold)
		return;
	s->done.dirty = dirty;
	stats_round(s->job->stats, &s->done);
	s->done_untold = false;
}

int save_round(struct save *s, const char *name, uint64_t of)
{
	uint64_t pages = s->batch->pages, bytes = xf_writer_position(s->writer);
	double begun = clock_now();
	int rc;

	if (!s->began_at)
		s->began_at = begun;
	rc = save_send_marked(s, name, of);
	/* In the pause the state follows at once. */
	if (!rc && s->batch->running && xf_writer_flush(s->writer))
		rc = failure_from(s->err, xf_writer_error(s->writer));
	s->done = (struct stats_round) {
		.round = s->round,
		.pages = s->batch->pages - pages,
		.bytes = xf_writer_position(s->writer) - bytes,
		.seconds = clock_now() - begun,
		.dirty_rate = -1, .pause_ms = -1, .scan_ms = -1, .cap = s->measured.cap,
	};
	s->done_untold = true;
	s->batch->fresh = false;
	s->batch->count_zeroes = false;
	s->round++;
	return rc;
}

int save_live_round(struct save *s, uint64_t of)
{
	char name[40];

	snprintf(name, sizeof(name), "Frames iteration %u", s->round);
	return save_round(s, name, of);
}

/* Leaves in `dirty` all that is memory now, and the holes that were. */
int save_look_again(struct save *s)
{
	int rc;

	s->ballooned = false;
	s->batch->distrust = true;
	xcbatch_bitmap_fill(s->dirty, s->info.frames);
	rc = save_find_memory(s);
	s->batch->distrust = false;
	return rc;
}
