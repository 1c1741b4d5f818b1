/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a live save ends: by its own policy, with busy guests, and within its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/pace.h"
#include "enginejob.h"
#include "stream/wire.h"
#include "xcbatch.h"

#include <xen/hvm/params.h>

#define FRAMES 1200

static struct simguest from, to;
static struct job save, restore;
static struct xf_transport_mem stream;
static unsigned calm_at;	/* the guest rests once it has no more CPU time than that */

/* ---- a nap is noted, not taken ------------------------------------------ */

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);
static double napped;

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	(void)left;
	napped += (double)nap->tv_sec + (double)nap->tv_nsec / 1e9;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	sim_init(&from, FRAMES, false);
	sim_fill(&from, 0, FRAMES);
	from.params[HVM_PARAM_STORE_PFN] = FRAMES - 1;
	sim_init(&to, FRAMES, true);
	job_init(&save, &from);
	save.limits.max_pause_ms = 1;	/* which no link reaches: only few pages, or no headway, end it */
	job_init(&restore, &to);
	calm_at = 0;
	napped = 0;
	return xf_transport_mem_init(&stream, NULL, 0);
}

static int teardown(void **state)
{
	(void)state;
	xf_transport_mem_free(&stream);
	sim_free(&from);
	sim_free(&to);
	return 0;
}

static void move_it(void)
{
	job_move(&save, &restore, &stream.base);
	assert_int_equal(save.suspends, 1);
}

/* Rewrites most of its memory between any two looks at it. */
static void rage(struct simguest *s)
{
	if (s->cap > calm_at)
		sim_rewrite(s);
}

static double megabytes(void)
{
	return (double)stream.size / 4096 / 1000;
}

/* ---- our policy --------------------------------------------------------- */

static void idle_guest(void **state)
{
	(void)state;
	move_it();
	assert_true(megabytes() < 1.25);		/* each page once */
}

static void stuck_guest_is_paused(void **state)
{
	(void)state;
	from.run = rage;
	move_it();
	/* All of it, two rounds of the busy part without headway, and that once more in the pause. */
	assert_true(megabytes() > 3.85 && megabytes() < 4.0);
	assert_int_equal(from.n_caps, 0);
}

static void stuck_guest_is_left_alone(void **state)
{
	(void)state;
	from.run = rage;
	save.limits.when_stuck = POLICY_GIVE_UP;
	assert_int_equal(job_save(&save, &stream.base), -ECANCELED);
	job_expect_error(&save, "Giving up domain 7", "faster than it can be sent", "runs on here", NULL);
	job_expect_quiet(&save);
	assert_int_equal(save.suspends, 0);
}

static void expect_steps_down(void)
{
	for (unsigned i = 1; i + 1 < from.n_caps; i++)
		assert_true(from.caps[i] < from.caps[i - 1]);
	assert_int_equal(from.caps[from.n_caps - 1], 100);
}

static void stuck_guest_is_throttled(void **state)
{
	(void)state;
	from.run = rage;
	calm_at = 20;
	save.limits.when_stuck = POLICY_THROTTLE;
	move_it();
	assert_true(from.n_caps >= 3);
	expect_steps_down();
	assert_true(from.caps[from.n_caps - 2] <= 20);
	assert_true(job_said(&save, "of its CPU time"));
}

/* The throttle has an end: then it is paused, with its CPU time to suspend. */
static void throttle_does_not_help(void **state)
{
	(void)state;
	from.run = rage;
	save.limits.when_stuck = POLICY_THROTTLE;
	move_it();
	expect_steps_down();
}

static void no_scheduler_to_throttle(void **state)
{
	(void)state;
	from.run = rage;
	from.no_throttle = true;
	save.limits.when_stuck = POLICY_THROTTLE;
	move_it();
	assert_true(job_said(&save, "Slowing domain 7 down failed"));
	assert_int_equal(from.cap, 100);
}

/* Throttled, and then something fails: each op in turn. */
static void throttle_is_always_undone(void **state)
{
	unsigned faults = 0;

	(void)state;
	for (unsigned at = 1;; at += 4) {
		bool throttled;

		teardown(state), setup(state);
		from.run = rage;
		from.fail_at = at;
		save.limits.when_stuck = POLICY_THROTTLE;
		job_save(&save, &stream.base);
		job_expect_quiet(&save);
		if (!from.failed)
			break;
		throttled = from.n_caps > 0;
		faults += throttled;
		/* Where giving it back itself fails, it says so, and closing the guest does it. */
		if (from.cap != 100) {
			assert_true(job_said(&save, "its CPU time back failed"));
			from.cap = 100;
		}
	}
	assert_true(faults > 3);
}

/* ---- limits ------------------------------------------------------------- */

static void rounds_are_limited(void **state)
{
	(void)state;
	from.run = rage;
	save.limits.max_rounds = 1;
	move_it();
	assert_true(megabytes() > 2.05 && megabytes() < 2.2);
}

static void rounds_are_limited_and_it_gives_up(void **state)
{
	(void)state;
	from.run = rage;
	save.limits.max_rounds = 1;
	save.limits.when_stuck = POLICY_GIVE_UP;
	assert_int_equal(job_save(&save, &stream.base), -ECANCELED);
	job_expect_error(&save, "limit that was set", NULL);
}

/* Time is over in the first round: what was not sent goes with the last copy, each page once. */
static void time_is_limited(void **state)
{
	(void)state;
	save.limits.max_time_s = 1e-9;
	move_it();
	assert_true(megabytes() < 1.25);
}

static void time_is_limited_and_it_gives_up(void **state)
{
	(void)state;
	save.limits.max_time_s = 1e-9;
	save.limits.when_stuck = POLICY_GIVE_UP;
	from.run = rage;
	assert_int_equal(job_save(&save, &stream.base), -ECANCELED);
	job_expect_error(&save, "limit that was set", NULL);
	assert_true(megabytes() < 1.0);
}

/* A caller's own policy decides alone. */
static void limits_are_not_for_the_callers_policy(void **state)
{
	(void)state;
	from.run = rage;
	save.limits.max_rounds = 1;
	save.limits.max_time_s = 1e-9;
	save.limits.when_stuck = POLICY_GIVE_UP;
	job_ask(&save);
	save.answers[8] = POLICY_STOP;
	move_it();
	assert_int_equal(save.n_asked, 9);
}

/* ---- bandwidth ---------------------------------------------------------- */

static void bandwidth_is_kept(void **state)
{
	(void)state;
	save.max_bandwidth = 1000000;
	move_it();
	/* 5 MB at 1 MB/s, but for what the processor took; nothing was waited for in the pause. */
	assert_true(napped > 4);
}

static void bandwidth_of_a_pause(void **state)
{
	(void)state;
	save.max_bandwidth = 1000000;
	save.live = false;
	move_it();
	assert_true(napped == 0);
}

static void pace(void **state)
{
	struct pace none = { .limit = 0 }, p = { .limit = 1000 };

	(void)state;
	pace_wait(&none, 1 << 30);
	assert_true(napped == 0);
	pace_wait(&p, 5000);		/* from here on it counts */
	assert_true(napped == 0);
	pace_wait(&p, 6000);
	assert_true(napped > 0.5 && napped <= 1);
	napped = 0;
	/* It was slow for long: no burst makes up for it. */
	p.from -= 100;
	pace_wait(&p, 6001);
	assert_true(napped == 0);
	pace_wait(&p, 7001);
	assert_true(napped > 0.5);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(idle_guest),
		TEST(stuck_guest_is_paused),
		TEST(stuck_guest_is_left_alone),
		TEST(stuck_guest_is_throttled),
		TEST(throttle_does_not_help),
		TEST(no_scheduler_to_throttle),
		TEST(throttle_is_always_undone),
		TEST(rounds_are_limited),
		TEST(rounds_are_limited_and_it_gives_up),
		TEST(time_is_limited),
		TEST(time_is_limited_and_it_gives_up),
		TEST(limits_are_not_for_the_callers_policy),
		TEST(bandwidth_is_kept),
		TEST(bandwidth_of_a_pause),
		TEST(pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
