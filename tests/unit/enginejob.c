/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "enginejob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stream/wire.h"

#include <xen/hvm/params.h>

/* ---- what surrounds a job ----------------------------------------------- */

static void note_message(void *data, enum report_level level, const char *sentence)
{
	struct job *j = data;
	size_t used = strlen(j->said);

	snprintf(j->said + used, sizeof(j->said) - used, "%s%s\n",
		 level == REPORT_ERROR ? "error: " : "", sentence);
}

static void note_progress(void *data, const char *what, uint64_t done, uint64_t total)
{
	struct job *j = data;

	assert_non_null(what);
	assert_true(done <= total);
	j->progress++;
}

static const struct report_ops report_ops = { note_message, note_progress };

static int hook_suspend(void *data)
{
	struct job *j = data;

	j->suspends++;
	if (j->refuse_suspend)
		return -EIO;
	if (j->pv) {
		if (!j->ignore_suspend)
			simpv_suspend(j->pv);
		return 0;
	}
	if (!j->ignore_suspend)
		j->guest->info.suspended = j->guest->info.shut_down = true;
	j->guest->info.reason = 2;
	if (j->grow_to)
		j->guest->info.frames = j->grow_to;
	return 0;
}

static int hook_qemu(void *data, bool on)
{
	struct job *j = data;

	assert_int_not_equal(j->qemu_logdirty, on);
	if (on && j->qemu_refuses == 1)
		return -EIO;
	j->qemu_logdirty = on;
	j->qemu_switched++;
	return !on && j->qemu_refuses == 2 ? -EIO : 0;
}

static enum policy_answer hook_policy(void *data, const struct policy_stats *stats)
{
	struct job *j = data;

	assert_true(j->n_asked < JOB_ASKED);
	j->asked[j->n_asked] = *stats;
	return j->answers[j->n_asked++];
}

static int hook_static_data(void *data, unsigned missing)
{
	struct job *j = data;

	j->static_done++;
	j->missing = missing;
	j->populated_then = j->pv ? j->pv->held : j->guest->populated;
	return j->refuse_static;
}

void job_init(struct job *j, struct simguest *guest)
{
	*j = (struct job) { .guest = guest,   .live = true, .limits = policy_default_limits };
	j->report = (struct report) { &report_ops, j };
	j->stats.fd = -1;
	j->save_hooks = (struct save_hooks) {
		.suspend = hook_suspend, .qemu_logdirty = hook_qemu, .data = j,
	};
	j->restore_hooks = (struct restore_hooks) { hook_static_data, j };
}

void job_init_pv(struct job *j, struct simpv *guest)
{
	job_init(j, NULL);
	j->pv = guest;
	/* A PV guest has no device model to tell. */
	j->save_hooks.qemu_logdirty = NULL;
}

static struct guest *guest_of(struct job *j)
{
	return j->pv ? &j->pv->base : &j->guest->base;
}

void job_ask(struct job *j)
{
	j->save_hooks.policy = hook_policy;
}

/* ---- the job ------------------------------------------------------------ */

int job_save(struct job *j, struct xf_transport *out)
{
	return engine_save(&(const struct save_job) {
		.guest = guest_of(j),
		.out = out,
		.hooks = &j->save_hooks,
		.limits = &j->limits,
		.max_bandwidth = j->max_bandwidth,
		.elide_zeroes = j->elide_zeroes,
		.tracker = j->tracker,
		.threads = j->threads,
		.report = &j->report,
		.stats = &j->stats,
		.live = j->live,
		.verify = j->verify,
	}, &j->err);
}

int job_restore(struct job *j, struct xf_transport *in)
{
	return engine_restore(&(const struct restore_job) {
		.guest = guest_of(j),
		.in = in,
		.size = j->size,
		.single_pages = j->single_pages,
		.hooks = &j->restore_hooks,
		.store = { .evtchn = 11, .domid = 1 },
		.console = { .evtchn = 12, .domid = 2 },
		.report = &j->report,
		.stats = &j->stats,
	}, &j->result, &j->err);
}

/* ---- what is expected --------------------------------------------------- */

void job_expect_error(const struct job *j, const char *part, ...)
{
	size_t n = strlen(j->err.text);
	va_list ap;

	assert_true(j->err.code < 0);
	assert_true(n > 20 && n < XF_ERROR_TEXT - 1);
	assert_true(isupper((unsigned char)j->err.text[0]));
	assert_int_equal(j->err.text[n - 1], '.');
	va_start(ap, part);
	for (; part; part = va_arg(ap, const char *))
		if (!strstr(j->err.text, part))
			fail_msg("\"%s\" does not say \"%s\"", j->err.text, part);
	va_end(ap);
}

unsigned job_said_times(const struct job *j, const char *part)
{
	unsigned times = 0;

	for (const char *at = strstr(j->said, part); at; at = strstr(at + 1, part))
		times++;
	return times;
}

bool job_said(const struct job *j, const char *part)
{
	return job_said_times(j, part) != 0;
}

void job_expect_quiet(const struct job *j)
{
	assert_false(j->qemu_logdirty);
	if (j->pv) {
		simpv_expect_quiet(j->pv);
		return;
	}
	assert_null(j->guest->dirty);
	assert_false(j->guest->guarded);
}

static void expect_same_blob(const struct guest_blob *a, const struct guest_blob *b)
{
	assert_int_equal(a->size, b->size);
	if (a->size)
		assert_memory_equal(a->data, b->data, a->size);
}

static bool cleared_on_arrival(const struct simguest *s, uint64_t gfn)
{
	return (s->params[HVM_PARAM_STORE_PFN] && gfn == s->params[HVM_PARAM_STORE_PFN]) ||
	       (s->params[HVM_PARAM_CONSOLE_PFN] && gfn == s->params[HVM_PARAM_CONSOLE_PFN]) ||
	       (s->params[HVM_PARAM_IOREQ_PFN] && gfn == s->params[HVM_PARAM_IOREQ_PFN]);
}

static void expect_same_memory(const struct simguest *from, const struct simguest *to)
{
	static const char zeroes[GUEST_PAGE_SIZE];

	assert_int_equal(from->frames, to->frames);
	for (uint64_t gfn = 0; gfn < from->frames; gfn++) {
		const char *want = cleared_on_arrival(from, gfn) ? zeroes : sim_page(from, gfn);

		if (from->types[gfn] != XF_PAGE_NOTAB)
			assert_int_equal(to->types[gfn], XF_PAGE_XTAB);
		else if (to->types[gfn] != XF_PAGE_NOTAB || memcmp(want, sim_page(to, gfn), GUEST_PAGE_SIZE))
			fail_msg("page 0x%llx did not arrive as it was", (unsigned long long)gfn);
	}
}

void expect_same_guest(const struct simguest *from, const struct job *restored)
{
	const struct simguest *to = restored->guest;

	expect_same_memory(from, to);
	expect_same_blob(&from->context, &to->context);
	expect_same_blob(&from->cpuid, &to->cpuid);
	expect_same_blob(&from->msrs, &to->msrs);
	assert_int_equal(from->tsc.mode, to->tsc.mode);
	assert_int_equal(from->tsc.khz, to->tsc.khz);
	assert_int_equal(from->tsc.nsec, to->tsc.nsec);
	assert_int_equal(from->tsc.incarnation, to->tsc.incarnation);
	for (unsigned i = 0; i < SIM_PARAMS; i++)
		if (i != HVM_PARAM_STORE_EVTCHN && i != HVM_PARAM_CONSOLE_EVTCHN)
			assert_int_equal(from->params[i], to->params[i]);
	assert_int_equal(to->params[HVM_PARAM_STORE_EVTCHN], 11);
	assert_int_equal(to->params[HVM_PARAM_CONSOLE_EVTCHN], 12);
	assert_true(to->is_seeded);
	assert_int_equal(to->seeded.store_gfn, from->params[HVM_PARAM_STORE_PFN]);
	assert_int_equal(to->seeded.console_gfn, from->params[HVM_PARAM_CONSOLE_PFN]);
	assert_int_equal(to->seeded.store_domid, 1);
	assert_int_equal(to->seeded.console_domid, 2);
	assert_int_equal(restored->result.store_gfn, from->params[HVM_PARAM_STORE_PFN]);
	assert_int_equal(restored->result.console_gfn, from->params[HVM_PARAM_CONSOLE_PFN]);
}

void job_move(struct job *save, struct job *restore, struct xf_transport *stream)
{
	if (job_save(save, stream))
		fail_msg("%s", save->err.text);
	if (job_restore(restore, stream))
		fail_msg("%s", restore->err.text);
	job_expect_quiet(save);
	expect_same_guest(save->guest, restore);
}
