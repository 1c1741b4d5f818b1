/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The curve of dirtied pages, and what is foretold from it for guests whose migration can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/forecast.h"

#define NEAR 1e-6

static struct policy_limits limits;

static int fresh(void **state)
{
	(void)state;
	limits = policy_default_limits;
	return 0;
}

#define CURVE(pages_there_are, ...)                                                             \
	((struct dirty_curve) { (const struct dirty_sample[]) { __VA_ARGS__ },                  \
		sizeof((const struct dirty_sample[]) { __VA_ARGS__ }) / sizeof(struct dirty_sample), \
		(pages_there_are) })

/* ---- the curve ------------------------------------------------------------ */

static void between_samples_and_behind_them(void **state)
{
	const struct dirty_curve even = CURVE(100000, { 0, 0 }, { 1, 1000 }, { 2, 2000 }, { 4, 4000 });
	const struct dirty_curve flat = CURVE(100000, { 0, 0 }, { 1, 500 }, { 2, 500 }, { 3, 500 }, { 4, 500 });

	(void)state;
	assert_float_equal(dirty_curve_most(&even, 0), 0, NEAR);
	assert_float_equal(dirty_curve_most(&even, -1), 0, NEAR);
	assert_float_equal(dirty_curve_most(&even, 0.5), 500, NEAR);
	assert_float_equal(dirty_curve_most(&even, 3), 3000, NEAR);
	assert_float_equal(dirty_curve_most(&even, 4), 4000, NEAR);
	/* Nobody saw so far: as in the last quarter. */
	assert_float_equal(dirty_curve_most(&even, 10), 10000, NEAR);
	assert_float_equal(dirty_curve_most(&flat, 0.5), 250, NEAR);
	assert_float_equal(dirty_curve_most(&flat, 100), 500, NEAR);
}

/* A guest that is quiet first and busy then is taken for busy. */
static void the_busiest_stretch_counts(void **state)
{
	const struct dirty_curve late = CURVE(100000, { 0, 0 }, { 1, 10 }, { 2, 20 }, { 3, 3020 }, { 4, 3030 });
	const struct dirty_curve last = CURVE(100000, { 0, 0 }, { 3.25, 0 }, { 4, 750 });

	(void)state;
	assert_float_equal(dirty_curve_most(&late, 1), 3000, NEAR);
	assert_float_equal(dirty_curve_rate(&late), 3000, NEAR);
	assert_float_equal(dirty_curve_most(&late, 2), 3010, NEAR);
	/* No sample a second before its end: that stretch counts all the same. */
	assert_float_equal(dirty_curve_rate(&last), 750, NEAR);
}

static void no_more_than_there_are(void **state)
{
	const struct dirty_curve small = CURVE(1500, { 0, 0 }, { 1, 1000 });

	(void)state;
	assert_float_equal(dirty_curve_most(&small, 3), 1500, NEAR);
}

static void little_or_nothing_watched(void **state)
{
	const struct dirty_curve none = { NULL, 0, 100 }, one = CURVE(100, { 0, 0 });
	const struct dirty_curve tenth = CURVE(10000, { 0, 0 }, { 0.1, 50 });

	(void)state;
	assert_float_equal(dirty_curve_most(&none, 5), 0, NEAR);
	assert_float_equal(dirty_curve_rate(&none), 0, NEAR);
	assert_float_equal(dirty_curve_most(&one, 5), 0, NEAR);
	assert_float_equal(dirty_curve_rate(&one), 0, NEAR);
	assert_float_equal(dirty_curve_rate(&tenth), 500, NEAR);
	/* Two looks at the same moment. */
	assert_float_equal(dirty_curve_most(&CURVE(100, { 0, 0 }, { 1, 7 }, { 1, 9 }), 0.5), 5.5, 6);
}

/* ---- the forecast ----------------------------------------------------------- */

static void idle(void **state)
{
	const struct dirty_curve c = CURVE(10000, { 0, 0 }, { 5, 0 });
	struct forecast f;

	(void)state;
	forecast(&c, 1000, &limits, &f);
	assert_int_equal(f.reason, POLICY_SHORT_PAUSE);
	assert_int_equal(f.rounds, 2);
	assert_float_equal(f.pages, 10000, NEAR);
	assert_float_equal(f.last_pages, 0, NEAR);
	assert_float_equal(f.pause_ms, POLICY_FIXED_MS, NEAR);
	assert_float_equal(f.total_s, 10 + POLICY_FIXED_MS / 1e3, NEAR);
	assert_false(f.gives_up);
}

/*
 * 100 pages a second on a link of 1000: rounds of 10000, 1000 and 100 pages; 100
 * make a pause of 200 ms, which is short enough, but a round more makes it shorter.
 * 10 are not worth that: they go in the last round, and 1 in the pause.
 */
static void a_tenth_each_round(void **state)
{
	const struct dirty_curve c = CURVE(10000, { 0, 0 }, { 20, 2000 });
	struct forecast f;

	(void)state;
	forecast(&c, 1000, &limits, &f);
	assert_int_equal(f.reason, POLICY_SHORT_PAUSE);
	assert_int_equal(f.rounds, 5);
	assert_float_equal(f.pages, 10000 + 1000 + 100 + 10 + 1, NEAR);
	assert_float_equal(f.last_pages, 1, NEAR);
	assert_float_equal(f.pause_ms, POLICY_FIXED_MS + 1, NEAR);
}

/* 4000 pages that are all dirty again after each round: stuck after the third, and sent in the pause. */
static const struct dirty_sample busy_samples[] = { { 0, 0 }, { 0.5, 4000 }, { 5, 4000 } };
static const struct dirty_curve busy = { busy_samples, 3, 30000 };

static void stuck_and_paused(void **state)
{
	struct forecast f;

	(void)state;
	forecast(&busy, 3000, &limits, &f);
	assert_int_equal(f.reason, POLICY_IS_STUCK);
	assert_int_equal(f.rounds, 4);
	assert_float_equal(f.pages, 30000 + 3 * 4000, NEAR);
	assert_float_equal(f.last_pages, 4000, NEAR);
	assert_float_equal(f.pause_ms, POLICY_FIXED_MS + 4000 / 3.0, NEAR);
	assert_float_equal(f.total_s, 42000 / 3000.0 + POLICY_FIXED_MS / 1e3, NEAR);
	assert_int_equal(f.cap, 100);
}

static void stuck_and_given_up(void **state)
{
	struct forecast f;

	(void)state;
	limits.when_stuck = POLICY_GIVE_UP;
	forecast(&busy, 3000, &limits, &f);
	assert_true(f.gives_up);
	assert_int_equal(f.reason, POLICY_IS_STUCK);
	assert_int_equal(f.rounds, 3);
}

/* 8000 pages a second, were it not slowed down; a link of 3000. */
static void throttled(void **state)
{
	const struct dirty_curve c = CURVE(300000, { 0, 0 }, { 1, 8000 });
	struct forecast f;

	(void)state;
	limits.when_stuck = POLICY_THROTTLE;
	forecast(&c, 3000, &limits, &f);
	assert_int_equal(f.reason, POLICY_SHORT_PAUSE);
	assert_true(f.cap < 60);
	assert_true(f.last_pages <= 600);
	assert_false(f.gives_up);
}

static void limits_of_rounds_and_time(void **state)
{
	struct forecast f;

	(void)state;
	limits.max_rounds = 1;
	forecast(&busy, 3000, &limits, &f);
	assert_int_equal(f.reason, POLICY_MAX_ROUNDS);
	assert_int_equal(f.rounds, 2);
	limits = policy_default_limits;
	limits.max_time_s = 5;
	forecast(&busy, 3000, &limits, &f);
	assert_int_equal(f.reason, POLICY_MAX_TIME);
	assert_int_equal(f.rounds, 2);
}

/* The faster link has the shorter pause, and a quick one none of the stuckness. */
static void faster_links(void **state)
{
	struct forecast slow, fast, fastest;

	(void)state;
	forecast(&busy, 3000, &limits, &slow);
	forecast(&busy, 6000, &limits, &fast);
	forecast(&busy, 300000, &limits, &fastest);
	assert_true(fast.pause_ms < slow.pause_ms);
	assert_true(fast.total_s < slow.total_s);
	assert_int_equal(fastest.reason, POLICY_SHORT_PAUSE);
	assert_true(fastest.pause_ms <= 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_samples_and_behind_them),
		cmocka_unit_test(the_busiest_stretch_counts),
		cmocka_unit_test(no_more_than_there_are),
		cmocka_unit_test(little_or_nothing_watched),
		cmocka_unit_test_setup(idle, fresh),
		cmocka_unit_test_setup(a_tenth_each_round, fresh),
		cmocka_unit_test_setup(stuck_and_paused, fresh),
		cmocka_unit_test_setup(stuck_and_given_up, fresh),
		cmocka_unit_test_setup(throttled, fresh),
		cmocka_unit_test_setup(limits_of_rounds_and_time, fresh),
		cmocka_unit_test_setup(faster_links, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
