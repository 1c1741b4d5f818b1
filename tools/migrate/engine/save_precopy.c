// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/clock.h"
#include "guest/failure.h"
#include "engine/save_internal.h"

/* A round of fewer pages says little about the rate. */
#define TELLING_PAGES 256

static int give_up(struct save *s, unsigned round, int64_t dirty, const char *why)
{
	return xf_error_set(s->err, -ECANCELED, "Giving up domain %u in round %u %s, with %lld pages"
			    " still dirty; it runs on here.", s->guest->domid, round, why,
			    (long long)dirty);
}

/* ---- the caller's policy ------------------------------------------------ */

/*
 * It is asked before each round (it knows how many pages wait) and after it
 * (it doesn't yet): an embedder's policy counts on both, as stock asks so.
 * What waits is sent even when the first answer is to stop.
 */
static int precopy_asked(struct save *s)
{
	const struct save_hooks *hooks = s->job->hooks;
	uint64_t dirty = xcbatch_bitmap_count(s->dirty, s->info.frames);
	/* Of the first round stock tells the size of the p2m, holes and all. */
	uint64_t told = s->info.frames;
	struct policy_stats now = { .dirty = (int64_t)told };
	enum policy_answer answer;
	int rc;

	s->stopped_for = POLICY_CALLER;
	for (;;) {
		answer = hooks->policy(hooks->data, &now);
		if (answer == POLICY_ABORT)
			break;
		rc = dirty ? save_live_round(s, dirty) : 0;
		if (rc)
			return rc;
		if (answer != POLICY_CONTINUE)
			break;

		now.round++;
		now.written += told;
		now.dirty = -1;
		answer = hooks->policy(hooks->data, &now);
		if (answer != POLICY_CONTINUE)
			break;

		rc = save_collect(s, false, &dirty);
		if (rc)
			return rc;
		save_tell_round(s, (int64_t)dirty);
		told = dirty;
		now.dirty = (int64_t)told;
	}
	save_tell_round(s, -1);
	return answer == POLICY_ABORT ? give_up(s, now.round, now.dirty, "as the policy asked") : 0;
}

/* ---- ours --------------------------------------------------------------- */

int save_throttle(struct save *s, unsigned percent)
{
	int rc;

	if (percent == s->measured.cap)
		return 0;
	rc = s->guest->ops->throttle(s->guest, percent);
	if (!rc)
		s->measured.cap = percent;
	return rc;
}

/* A scheduler that can't is no reason to give up: false, and the guest is paused instead. */
static bool slow_down(struct save *s, unsigned percent)
{
	int rc = save_throttle(s, percent);

	if (rc) {
		report_warn(s->job->report, "Slowing domain %u down failed (%s), expected one of Xen's"
			    " credit schedulers; it is paused instead.", s->guest->domid, strerror(-rc));
		return false;
	}
	report_info(s->job->report, "Domain %u dirties memory faster than it can be sent: it gets %u %% of"
		    " its CPU time.", s->guest->domid, percent);
	/* Each further round without headway takes it a step down. */
	s->measured.stuck = POLICY_STUCK_ROUNDS - 1;
	return true;
}

/* What the pause takes besides the pages left to send; comparing goes on in it as it went just now. */
static void measure_pause(struct save *s)
{
	double pages = (double)xcbatch_bitmap_count(s->batch->ram, s->info.frames);

	s->measured.scan_ms = s->scanned ? s->scan_s * 1e3 * pages / (double)s->scanned : 0;
	s->measured.verify_ms = s->job->verify && s->measured.send_rate > 0 ?
				pages / s->measured.send_rate * 1e3 : 0;
}

/* What the round that ended said about the link and the guest. `marked` pages were to be sent. */
static void measure(struct save *s, uint64_t marked, uint64_t dirty, double since)
{
	struct policy_measured *m = &s->measured;
	const struct stats_round *r = &s->done;
	double now = clock_now();

	if (r->seconds > 0 && r->pages >= TELLING_PAGES)
		m->send_rate = (double)r->pages / r->seconds;
	else if (r->seconds > 0 && !m->send_rate)
		m->send_rate = (double)marked / r->seconds;
	m->dirty_rate = now > since ? (double)dirty / (now - since) : 0;
	m->stuck = m->round ? policy_stuck(m->stuck, marked, dirty) : 0;
	m->round++;
	m->dirty = (int64_t)dirty;
	m->elapsed_s = now - s->began_at;
	measure_pause(s);
}

/* Either way the guest is suspended next. */
static int stop(struct save *s, const struct policy_verdict *v, uint64_t dirty)
{
	int rc = 0;

	if (v->answer == POLICY_ABORT)
		return give_up(s, s->measured.round, s->measured.dirty, v->reason == POLICY_IS_STUCK ?
			       "as it dirties memory faster than it can be sent" :
			       "as the limit that was set is reached");
	if (v->answer == POLICY_STOP_NOW)
		xcbatch_bitmap_or(s->deferred, s->dirty, s->info.frames);
	else if (dirty)
		rc = save_live_round(s, dirty);
	save_tell_round(s, -1);
	return rc;
}

static int precopy_measured(struct save *s)
{
	uint64_t marked = xcbatch_bitmap_count(s->dirty, s->info.frames), dirty;
	struct policy_verdict v;

	for (;;) {
		double begun = clock_now();
		int rc = marked ? save_live_round(s, marked) : 0;

		if (!rc)
			rc = save_collect(s, false, &dirty);
		if (rc)
			return rc;
		measure(s, marked, dirty, begun);
		v = policy_decide(&s->measured, s->job->limits);
		s->done.dirty_rate = s->measured.dirty_rate;
		s->done.pause_ms = v.pause_ms;
		s->done.scan_ms = s->scanned ? s->scan_s * 1e3 : -1;
		s->done.scanned = s->scanned;
		save_tell_round(s, (int64_t)dirty);
		s->stopped_for = v.reason;
		if (v.answer != POLICY_CONTINUE)
			break;
		if (v.cap != s->measured.cap && !slow_down(s, v.cap)) {
			s->stopped_for = POLICY_IS_STUCK;
			v.answer = POLICY_STOP_NOW;
			break;
		}
		marked = dirty;
	}
	return stop(s, &v, dirty);
}

int save_precopy(struct save *s)
{
	int rc;

	xcbatch_bitmap_fill(s->dirty, s->info.frames);
	rc = save_find_memory(s);
	if (rc)
		return rc;
	return s->job->hooks->policy ? precopy_asked(s) : precopy_measured(s);
}
