// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which pages were written: the hypervisor's log-dirty, or contents compared with what was sent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/content.h"
#include "guest/failure.h"
#include "engine/save_internal.h"

static int start_content(struct save *s)
{
	int rc = xcbatch_content_create(s->info.frames, &s->sent);

	if (rc)
		return failure(s->err, rc, s->guest, "Preparing to track the memory by content");
	rc = s->guest->ops->guard_start(s->guest);
	if (rc)
		return failure(s->err, rc, s->guest, "Preparing a live migration");
	s->tracking = true;
	s->threads = s->job->threads ? s->job->threads : content_threads();
	if (s->threads > GUEST_LANES)
		s->threads = GUEST_LANES;
	s->batch->sent = s->sent;
	s->tracker = "content";
	report_info(s->job->report, "Domain %u is tracked by content, by %u threads (%s): its memory is compared"
		    " with what was sent, for the last time in the pause.", s->guest->domid, s->threads,
		    s->job->tracker == TRACKER_CONTENT ? "as the configuration asks" :
		    "this Xen has no log-dirty for it");
	return 0;
}

int save_track(struct save *s)
{
	int rc;

	if (s->job->tracker == TRACKER_CONTENT)
		return start_content(s);
	rc = s->guest->ops->dirty_start(s->guest, s->info.frames);
	s->tracking = !rc;
	s->tracker = "log-dirty";
	if (rc == -EOPNOTSUPP && s->job->tracker == TRACKER_AUTO)
		return start_content(s);
	if (rc == -EOPNOTSUPP)
		return xf_error_set(s->err, rc, "This Xen has no log-dirty for domain %u (%s) and the configuration"
				    " asks for it; set the tracker to \"auto\" or \"content\".",
				    s->guest->domid, strerror(-rc));
	return rc ? failure(s->err, rc, s->guest, "Enabling log-dirty") : 0;
}

/* Once the guest is across it waits for us to return: what takes Xen a while is left to somebody else then. */
static int stop(struct save *s, bool across)
{
	const struct guest_ops *ops = s->guest->ops;

	if (across && !s->sent && ops->dirty_stop_later && !ops->dirty_stop_later(s->guest))
		return 0;
	return ops->dirty_stop(s->guest);
}

int save_untrack(struct save *s, bool across)
{
	int rc = s->tracking ? stop(s, across) : 0;

	xcbatch_content_destroy(s->sent);
	s->sent = NULL;
	return rc;
}

/* ---- collecting --------------------------------------------------------- */

static int scan(struct save *s)
{
	size_t words = xcbatch_bitmap_words(s->info.frames);
	struct content_scan scan = {
		.guest = s->guest, .sent = s->sent, .ram = s->batch->ram, .map = s->dirty,
		.frames = s->info.frames, .threads = s->threads, .report = s->job->report,
	};
	int rc;

	/* What goes with the last copy in any case needs no look. */
	for (size_t i = 0; i < words; i++)
		s->dirty[i] &= ~s->deferred[i];
	scan.of = xcbatch_bitmap_count(s->dirty, s->info.frames);
	rc = content_scan(&scan, s->err);
	s->scan_s = scan.seconds;
	s->scanned = scan.looked;
	s->ballooned = s->ballooned || scan.gone;
	return rc;
}

/* A second look where the first found memory gone and there is no later one to put that right. */
static int collect_by_content(struct save *s, bool last)
{
	int rc;

	memcpy(s->dirty, s->batch->ram, xcbatch_bitmap_words(s->info.frames) * sizeof(*s->dirty));
	rc = s->ballooned ? save_look_again(s) : 0;
	if (!rc)
		rc = scan(s);
	if (rc || !last || !s->ballooned)
		return rc;
	rc = save_look_again(s);
	return rc ? rc : scan(s);
}

/* Every page may have been written unnoticed until now, and memory may lie where none was. */
static int collect_logged(struct save *s, bool last, uint64_t *dirty)
{
	int rc = s->guest->ops->dirty_collect(s->guest, last, s->dirty, dirty);

	if (rc)
		return failure(s->err, rc, s->guest, "Collecting the dirty pages");
	if (!s->ballooned)
		return 0;
	report_debug(s->job->report, "Domain %u changed its memory while it was copied, so all of it is"
		     " sent again.", s->guest->domid);
	return save_look_again(s);
}

int save_collect(struct save *s, bool last, uint64_t *dirty)
{
	double begun = clock_now();
	int rc = save_watch_memory(s);

	/* Where memory went as much may have come elsewhere, and how much there is says nothing. */
	s->ballooned = s->ballooned || s->batch->gone;
	s->batch->gone = false;
	/* The last time it was looked at when the guest was suspended. */
	if (!rc && s->pv && !last)
		rc = pv_source_look(s->pv, false, s->err);
	if (!rc)
		rc = s->sent ? collect_by_content(s, last) : collect_logged(s, last, dirty);
	if (!rc)
		*dirty = xcbatch_bitmap_count(s->dirty, s->info.frames);
	spent_since(begun, &s->batch->spent.dirty);
	return rc;
}
