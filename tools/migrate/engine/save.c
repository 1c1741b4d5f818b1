// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/clock.h"
#include "guest/failure.h"
#include "engine/save_internal.h"

/* What is smaller goes out together: words of a few pages, the records of the state. */
#define GATHER_BYTES (64 << 10)

/* ---- phases, in order --------------------------------------------------- */

static int look_at_pv(struct save *s)
{
	int rc = pv_source_open(s->guest, &s->pv, s->err);

	if (rc)
		return rc;
	s->guest = pv_source_guest(s->pv);
	rc = s->guest->ops->info(s->guest, &s->info);
	return rc ? failure(s->err, rc, s->guest, "Looking at the state") : 0;
}

static int look(struct save *s)
{
	int rc = s->guest->ops->info(s->guest, &s->info);

	if (rc)
		return failure(s->err, rc, s->guest, "Looking at the state");
	if (!s->info.hvm) {
		rc = look_at_pv(s);
		if (rc)
			return rc;
	}
	if (!s->info.frames)
		return xf_error_set(s->err, -EINVAL, "Domain %u has no memory to save; look at it with"
				    " \"xl list\".", s->guest->domid);
	stats_save_start(s->job->stats, s->info.frames, s->job->live);
	return 0;
}

static int reserve(struct save *s)
{
	size_t words = xcbatch_bitmap_words(s->info.frames);
	int rc;

	s->dirty = calloc(words, sizeof(*s->dirty));
	s->deferred = calloc(words, sizeof(*s->deferred));
	s->batch = calloc(1, sizeof(*s->batch));
	if (s->batch)
		s->batch->ram = calloc(words, sizeof(*s->batch->ram));
	rc = xf_writer_open(&s->writer, s->job->out, XF_VERSION_MAX, XF_STREAM_PLAIN);
	if (!rc)
		rc = xf_writer_gather(s->writer, GATHER_BYTES);
	if (rc || !s->dirty || !s->deferred || !s->batch || !s->batch->ram)
		return xf_error_set(s->err, rc ? rc : -ENOMEM, "No memory for three bitmaps of %llu pages,"
				    " expected %zu bytes each; free some memory in Dom0.",
				    (unsigned long long)s->info.frames, words * sizeof(*s->dirty));
	s->batch->guest = s->guest;
	s->batch->writer = s->writer;
	s->batch->out = s->job->out;
	s->batch->pace.limit = (double)s->job->max_bandwidth;
	s->batch->elide_zeroes = s->job->elide_zeroes;
	s->batch->deferred = s->deferred;
	return 0;
}

static int tell_device_model(struct save *s)
{
	const struct save_hooks *hooks = s->job->hooks;
	int rc;

	/* What QEMU does for a PV guest are its backends, and they go through grants. */
	if (!hooks->qemu_logdirty || s->pv)
		return 0;
	rc = hooks->qemu_logdirty(hooks->data, true);
	if (rc)
		return xf_error_set(s->err, rc, "The device model of domain %u refused to log what it"
				    " writes (%s); see its log in /var/log/xen.", s->guest->domid,
				    strerror(-rc));
	s->qemu_logdirty = true;
	return 0;
}

static int headers(struct save *s)
{
	int rc;

	report_progress(s->job->report, "Start of stream", 0, 0);
	rc = xf_writer_headers(s->writer, s->pv ? XF_GUEST_X86_PV : XF_GUEST_X86_HVM, s->info.xen_major, s->info.xen_minor);
	return rc ? failure_from(s->err, xf_writer_error(s->writer)) : 0;
}

static int end(struct save *s)
{
	int rc;

	report_progress(s->job->report, "End of stream", 0, 0);
	rc = xf_writer_blob(s->writer, XF_REC_END, NULL, 0);
	if (rc)
		return failure_from(s->err, xf_writer_error(s->writer));
	s->ended_at = clock_now();
	report_progress(s->job->report, "Complete", 0, 0);
	return 0;
}

static int (*const phases[])(struct save *) = {
	look, reserve, tell_device_model, headers, save_static_data, save_memory, save_state, end,
};

/* ---- whatever happened -------------------------------------------------- */

/* A failure here doesn't unmake a save that succeeded, but it must be known. */
static void undo(struct save *s, bool across)
{
	const struct save_hooks *hooks = s->job->hooks;
	int rc = save_throttle(s, 100);

	if (rc)
		report_error(s->job->report, "Giving domain %u its CPU time back failed (%s); do it with"
			     " \"xl sched-credit2 -d %u -c 0\" or what its scheduler has.",
			     s->guest->domid, strerror(-rc), s->guest->domid);
	rc = save_untrack(s, across);
	if (rc)
		report_error(s->job->report, "Switching log-dirty off for domain %u failed (%s); the"
			     " guest runs slower until it is restarted or migrated.",
			     s->guest->domid, strerror(-rc));
	rc = s->qemu_logdirty ? hooks->qemu_logdirty(hooks->data, false) : 0;
	if (rc)
		report_error(s->job->report, "The device model of domain %u refused to stop logging what"
			     " it writes (%s); see its log in /var/log/xen.", s->guest->domid,
			     strerror(-rc));
}

static void release(struct save *s)
{
	xf_writer_close(s->writer);
	if (s->batch) {
		batch_release(s->batch);
		free(s->batch->ram);
	}
	free(s->batch);
	free(s->deferred);
	free(s->dirty);
	pv_source_close(s->pv);
}

/* `released`: when all that was switched on for the save was off again; the guest still waits for that. */
static void tell_end(const struct save *s, int rc, double released)
{
	struct stats *stats = s->job->stats;
	struct stats_save_end e = {
		.result = rc,
		.memory_s = s->copied_at ? s->copied_at - stats->started - s->suspend_ms / 1e3 : -1,
		.bytes = (int64_t)s->job->out->bytes_written,
		.rounds = s->round,
		.pages = s->copied_at ? (int64_t)s->pages : s->batch ? (int64_t)s->batch->pages : 0,
		.zero_pages = s->batch ? (int64_t)s->batch->zero_pages : 0,
		.suspend_ms = s->suspended_at ? s->suspend_ms : -1,
		.collect_ms = clock_ms(s->suspended_at, s->collected_at),
		.last_copy_ms = clock_ms(s->suspended_at, s->copied_at),
		.state_ms = clock_ms(s->state_begun_at, s->ended_at),
		.release_ms = clock_ms(s->ended_at, released),
		.elided = s->batch ? (int64_t)s->batch->elided : 0,
		.tracker = s->tracker,
		.scan_s = s->scanned ? s->scan_s : -1,
		.scanned = s->scanned,
		.stopped_for = s->stopped_for ? policy_reason_name(s->stopped_for) : NULL,
		.spent = s->batch ? &s->batch->spent : NULL,
	};

	stats_save_end(stats, &e);
}

int engine_save(const struct save_job *job, struct xf_error *err)
{
	struct save s = { .job = job, .guest = job->guest, .err = err, .measured.cap = 100 };
	int rc = 0;

	report_info(job->report, "Saving domain %u, %s", job->guest->domid,
		    job->live ? "live" : "not live");
	for (size_t i = 0; !rc && i < sizeof(phases) / sizeof(phases[0]); i++)
		rc = phases[i](&s);
	undo(&s, !rc);
	tell_end(&s, rc, clock_now());
	release(&s);
	return rc;
}
