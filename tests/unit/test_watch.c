/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A simulated guest is watched: what it dirties is counted, nothing is taken, and log-dirty always goes off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "simguest.h"
#include "watch/watch.h"

#define FRAMES 512

static struct simguest sim;
static struct watched w;
static unsigned waits, stop_at, steal_at, wrote;

static int fresh(void **state)
{
	(void)state;
	sim_init(&sim, FRAMES, false);
	sim_fill(&sim, 0, FRAMES);
	waits = stop_at = steal_at = wrote = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	watched_free(&w);
	sim_free(&sim);		/* checks that log-dirty is off */
	return 0;
}

/* In each interval the guest writes 8 pages, of which it has 64, each twice. */
static int wait_and_write(void *ctx, double interval, double seconds, uint64_t pages)
{
	assert_ptr_equal(ctx, &waits);
	assert_true(interval > 0 && interval <= 0.002 && seconds < 0.1);
	assert_true(pages == (wrote < 64 ? wrote : 64));
	waits++;
	for (unsigned i = 0; i < 8; i++, wrote++) {
		sim_write(&sim, 100 + wrote % 64, waits);
		sim_write(&sim, 100 + wrote % 64, waits + 1);
	}
	if (waits == steal_at)
		memset(sim.dirty, 0, FRAMES / 8);
	return waits == stop_at ? -ECANCELED : 0;
}

static int watch(double seconds)
{
	const struct watch_plan plan = { seconds, 0.002, wait_and_write, &waits };

	return watch_guest(&sim.base, &plan, &w);
}

static void counts_different_pages(void **state)
{
	(void)state;
	/* What was dirty before it is watched doesn't count. */
	assert_int_equal(watch(0.1), 0);
	assert_int_equal(w.n, waits + 1);
	assert_int_equal(w.samples[0].pages, 0);
	for (size_t i = 1; i < w.n; i++) {
		assert_int_equal(w.samples[i].pages, i * 8 < 64 ? i * 8 : 64);
		assert_true(w.samples[i].seconds >= w.samples[i - 1].seconds);
	}
	assert_true(w.samples[w.n - 1].seconds >= 0.1);
	assert_ptr_equal(w.curve.samples, w.samples);
	assert_int_equal(w.curve.n, w.n);
	assert_int_equal(w.curve.most, FRAMES);
	assert_int_equal(sim.starts, 1);
	assert_int_equal(sim.stops, 1);
}

static const struct guest_ops *sims;

/* As Xen's count, which an earlier tracking may have left behind. */
static int start_with_dirt(struct guest *g, uint64_t frames)
{
	int rc = sims->dirty_start(g, frames);

	sim_rewrite(&sim);
	return rc;
}

static void old_dirt_is_not_counted(void **state)
{
	struct guest_ops ops = *sim.base.ops;

	(void)state;
	sims = sim.base.ops;
	ops.dirty_start = start_with_dirt;
	sim.base.ops = &ops;
	assert_int_equal(watch(0.01), 0);
	sim.base.ops = sims;
	assert_int_equal(w.samples[w.n - 1].pages, wrote < 64 ? wrote : 64);
}

static void stopped(void **state)
{
	(void)state;
	stop_at = 3;
	assert_int_equal(watch(0.1), -ECANCELED);
	assert_int_equal(waits, 3);
	assert_int_equal(sim.stops, 1);
}

static void taken_over(void **state)
{
	(void)state;
	steal_at = 4;
	assert_int_equal(watch(0.1), -ESTALE);
}

static void not_running(void **state)
{
	(void)state;
	sim.info.shut_down = true;
	sim.info.reason = 1;
	assert_int_equal(watch(0.1), -EHOSTDOWN);
	assert_int_equal(sim.starts, 0);
	assert_int_equal(w.info.reason, 1);
}

/* Each call fails in turn: its error comes out, and log-dirty is off. */
static void each_call_fails(void **state)
{
	unsigned at;

	(void)state;
	for (at = 1; ; at++) {
		stop_at = 4;
		waits = wrote = 0;
		sim.calls = 0;
		sim.fail_at = at;
		sim.fail_with = -EIO;
		sim.failed = NULL;
		if (watch(0.1) != -EIO)
			break;
		assert_non_null(sim.failed);
		assert_null(sim.dirty);
		watched_free(&w);
	}
	assert_true(at > 6);	/* info, held, start, collect, and looks */
	assert_int_equal(waits, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_different_pages, fresh, end),
		cmocka_unit_test_setup_teardown(old_dirt_is_not_counted, fresh, end),
		cmocka_unit_test_setup_teardown(stopped, fresh, end),
		cmocka_unit_test_setup_teardown(taken_over, fresh, end),
		cmocka_unit_test_setup_teardown(not_running, fresh, end),
		cmocka_unit_test_setup_teardown(each_call_fails, fresh, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
