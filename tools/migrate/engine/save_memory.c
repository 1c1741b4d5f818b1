// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/clock.h"
#include "engine/failure.h"
#include "engine/save_internal.h"

/* Pages between two words about progress: 4 MiB. */
#define PROGRESS_PAGES 1024

/* ---- one pass over the bitmap ------------------------------------------- */

static int send_marked(struct save *s, const char *name, uint64_t of)
{
	uint64_t frames = s->info.frames, sent = 0;
	int rc;

	for (uint64_t pfn = xcbatch_bitmap_next(s->dirty, frames, 0); pfn < frames;
	     pfn = xcbatch_bitmap_next(s->dirty, frames, pfn + 1)) {
		rc = batch_add(s->batch, pfn, s->err);
		if (rc)
			return rc;
		if (sent++ % PROGRESS_PAGES == 0) {
			report_progress(s->job->report, name, sent - 1, of);
			stats_progress(s->job->stats, s->round, sent - 1, of);
		}
	}
	rc = batch_flush(s->batch, s->err);
	if (!rc && of)
		report_progress(s->job->report, name, of, of);
	return rc;
}

/* dirty: found at the round's end, -1 if nobody looked. */
static void tell_round(struct save *s, int64_t dirty)
{
	if (!s->done_untold)
		return;
	s->done.dirty = dirty;
	stats_round(s->job->stats, &s->done);
	s->done_untold = false;
}

static int send_round(struct save *s, const char *name, uint64_t of)
{
	uint64_t pages = s->batch->pages, bytes = s->job->out->bytes_written;
	double begun = clock_now();
	int rc = send_marked(s, name, of);

	s->done = (struct stats_round) {
		.round = s->round,
		.pages = s->batch->pages - pages,
		.bytes = s->job->out->bytes_written - bytes,
		.seconds = clock_now() - begun,
	};
	s->done_untold = true;
	s->batch->fresh = false;
	s->batch->count_zeroes = false;
	s->round++;
	return rc;
}

static int send_live_round(struct save *s, uint64_t of)
{
	char name[40];

	snprintf(name, sizeof(name), "Frames iteration %u", s->round);
	return send_round(s, name, of);
}

/* ---- the pause ---------------------------------------------------------- */

static int suspend(struct save *s)
{
	const struct save_hooks *hooks = s->job->hooks;
	double begun = clock_now();
	struct guest_info now;
	int rc = hooks->suspend(hooks->data);

	if (rc)
		return xf_error_set(s->err, rc, "Suspending domain %u failed; see the toolstack's own"
				    " messages and whether the guest's kernel can suspend.",
				    s->guest->domid);
	s->suspended_at = clock_now();
	s->suspend_ms = (s->suspended_at - begun) * 1e3;
	stats_suspended(s->job->stats, s->suspend_ms);

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

/* ---- precopy ------------------------------------------------------------ */

static int collect(struct save *s, bool last, uint64_t *dirty)
{
	int rc = s->guest->ops->dirty_collect(s->guest, last, s->dirty, dirty);

	return rc ? failure(s->err, rc, s->guest, "Collecting the dirty pages") : 0;
}

static enum policy_answer ask(struct save *s, const struct policy_stats *now)
{
	const struct save_hooks *hooks = s->job->hooks;

	return hooks->policy ? hooks->policy(hooks->data, now) : policy_decide(now, s->job->limits);
}

/*
 * The policy is asked before each round (it knows how many pages wait) and
 * after it (it doesn't yet): an embedder's policy counts on both, as stock
 * asks so. What waits is sent even when the first answer is to stop.
 */
static int precopy(struct save *s)
{
	struct policy_stats now = { .dirty = (int64_t)s->info.frames };
	uint64_t dirty = s->info.frames;
	enum policy_answer answer;

	xcbatch_bitmap_fill(s->dirty, s->info.frames);
	for (;;) {
		int rc;

		answer = ask(s, &now);
		if (answer == POLICY_ABORT)
			break;
		rc = dirty ? send_live_round(s, dirty) : 0;
		if (rc)
			return rc;
		if (answer != POLICY_CONTINUE)
			break;

		now.round++;
		now.written += dirty;
		now.dirty = -1;
		answer = ask(s, &now);
		if (answer != POLICY_CONTINUE)
			break;

		rc = collect(s, false, &dirty);
		if (rc)
			return rc;
		tell_round(s, (int64_t)dirty);
		now.dirty = (int64_t)dirty;
	}
	tell_round(s, -1);
	if (answer == POLICY_ABORT)
		return xf_error_set(s->err, -ECANCELED, "Giving up domain %u in round %u as the policy"
				    " asked, with %lld pages still dirty; it runs on here.",
				    s->guest->domid, now.round, (long long)now.dirty);
	return 0;
}

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
	if (longer(&s->dirty, had, has) || longer(&s->deferred, had, has))
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
	int rc = collect(s, true, &found);

	if (!rc)
		rc = cover_growth(s);
	if (rc)
		return rc;
	xcbatch_bitmap_or(s->dirty, s->deferred, s->info.frames);
	to_send = xcbatch_bitmap_count(s->dirty, s->info.frames);
	rc = send_live_round(s, to_send);
	if (rc)
		return rc;
	tell_round(s, -1);
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
	rc = send_marked(s, "Frames verify", s->info.frames);
	s->batch->fresh = false;
	return rc;
}

static int memory_live(struct save *s)
{
	int rc = s->guest->ops->dirty_start(s->guest, s->info.frames);

	if (rc)
		return failure(s->err, rc, s->guest, "Enabling log-dirty");
	s->logdirty = true;
	s->batch->running = true;
	rc = precopy(s);
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
	rc = send_round(s, "Frames", s->info.frames);
	tell_round(s, -1);
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
