// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper/passthrough.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/stats.h"
#include "policy/policy.h"

/* What the process moved so far, -1 if the kernel doesn't count it. */
static int64_t io_count(const char *key)
{
	char name[32];
	long long value, found = -1;
	FILE *f = fopen("/proc/self/io", "re");

	if (!f)
		return -1;
	while (fscanf(f, "%31[^:]: %lld ", name, &value) == 2)
		if (!strcmp(name, key))
			found = value;
	fclose(f);
	return found;
}

static int64_t io_since(const char *key, int64_t before)
{
	int64_t now = io_count(key);

	return now < 0 || before < 0 ? -1 : now - before;
}

static void *stock_function(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) {
		fprintf(stderr, "xenferry: %s is not to be found in libxenguest; install Xen's tools again.\n", name);
		errno = ENOSYS;
	}
	return f;
}

/* ---- save --------------------------------------------------------------- */

/* The caller's callbacks, and what is measured around them. */
struct timed_save {
	const struct save_callbacks *real;
	struct stats stats;
	unsigned rounds;
	double suspend_ms;
	double suspended_at;	/* 0: not yet */
};

static int timed_suspend(void *data)
{
	struct timed_save *t = data;
	double begun = clock_now();
	int rc = t->real->suspend(t->real->data);

	t->suspended_at = clock_now();
	t->suspend_ms = (t->suspended_at - begun) * 1e3;
	if (rc)
		stats_suspended(&t->stats, t->suspend_ms);
	return rc;
}

/* libxl gives no policy; then stock's own rule is asked here, so that the rounds are seen. */
static int timed_policy(struct precopy_stats s, void *data)
{
	struct timed_save *t = data;
	const struct policy_stats now = {
		.round = s.iteration, .written = s.total_written, .dirty = s.dirty_count,
	};

	t->rounds = s.iteration;
	if (t->real->precopy_policy)
		return t->real->precopy_policy(s, t->real->data);
	return policy_decide_stock(&now);
}

static int forward_postcopy(void *data)
{
	struct timed_save *t = data;

	return t->real->postcopy(t->real->data);
}

static int forward_checkpoint(void *data)
{
	struct timed_save *t = data;

	return t->real->checkpoint(t->real->data);
}

static int forward_wait_checkpoint(void *data)
{
	struct timed_save *t = data;

	return t->real->wait_checkpoint(t->real->data);
}

static int forward_qemu_logdirty(uint32_t domid, unsigned enable, void *data)
{
	struct timed_save *t = data;

	return t->real->switch_qemu_logdirty(domid, enable, t->real->data);
}

/* A callback the caller left out stays out: stock looks at which are there. */
static struct save_callbacks timed_callbacks(struct timed_save *t)
{
	const struct save_callbacks *real = t->real;

	return (struct save_callbacks) {
		.suspend = real->suspend ? timed_suspend : NULL,
		.precopy_policy = timed_policy,
		.postcopy = real->postcopy ? forward_postcopy : NULL,
		.checkpoint = real->checkpoint ? forward_checkpoint : NULL,
		.wait_checkpoint = real->wait_checkpoint ? forward_wait_checkpoint : NULL,
		.switch_qemu_logdirty = real->switch_qemu_logdirty ? forward_qemu_logdirty : NULL,
		.data = t,
	};
}

static void save_ended(struct timed_save *t, int rc, int error, int64_t bytes, bool live)
{
	double now = clock_now();
	double suspended = t->suspended_at ? t->suspended_at : now;

	stats_save_end(&t->stats, &(struct stats_save_end) {
		.result = rc ? -error : 0,
		.memory_s = now - t->stats.started - t->suspend_ms / 1e3,
		.bytes = bytes,
		.rounds = (live ? t->rounds : 0) + 1,
		.pages = -1, .zero_pages = -1, .elided = -1,
		.suspend_ms = t->suspend_ms,
		/* From outside, the last copy and the state that follows look like one. */
		.collect_ms = -1, .last_copy_ms = (now - suspended) * 1e3, .state_ms = -1, .release_ms = -1,
	});
}

int passthrough_save(const struct save_call *c, const char *stats_path)
{
	__typeof__(xc_domain_save) *stock =
		(__typeof__(xc_domain_save) *)stock_function("xc_domain_save");
	struct timed_save timed = { .real = c->callbacks };
	struct save_callbacks callbacks;
	bool live = c->flags & XCFLAGS_LIVE;
	int64_t before;
	int rc, error;

	if (!stock)
		return -1;
	stats_open(&timed.stats, stats_path, "save", "stock", c->dom);
	if (!stats_wanted(&timed.stats))
		return stock(c->xch, c->io_fd, c->dom, c->flags, c->callbacks, c->stream_type, c->recv_fd);

	callbacks = timed_callbacks(&timed);
	before = io_count("wchar");
	stats_save_start(&timed.stats, 0, live);
	rc = stock(c->xch, c->io_fd, c->dom, c->flags, &callbacks, c->stream_type, c->recv_fd);
	error = errno;
	save_ended(&timed, rc, error, io_since("wchar", before), live);
	stats_close(&timed.stats);
	errno = error;
	return rc;
}

/* ---- restore ------------------------------------------------------------ */

int passthrough_restore(const struct restore_call *c, const char *stats_path)
{
	__typeof__(xc_domain_restore) *stock =
		(__typeof__(xc_domain_restore) *)stock_function("xc_domain_restore");
	struct stats stats;
	int64_t before;
	int rc, error;

	if (!stock)
		return -1;
	stats_open(&stats, stats_path, "restore", "stock", c->dom);
	before = io_count("rchar");
	stats_restore_start(&stats, 0);
	rc = stock(c->xch, c->io_fd, c->dom, c->store_evtchn, c->store_gfn, c->store_domid,
		   c->console_evtchn, c->console_gfn, c->console_domid, c->stream_type,
		   c->callbacks, c->send_back_fd);
	error = errno;
	stats_restore_end(&stats, &(struct stats_restore_end) {
		.result = rc ? -error : 0,
		.bytes = io_since("rchar", before),
		.pages = -1, .cleared = -1, .apply_ms = -1, .give_back_ms = -1, .complete_ms = -1,
	});
	stats_close(&stats);
	errno = error;
	return rc;
}
