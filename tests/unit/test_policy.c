/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Both rules, on both sides of each of their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/policy.h"

/* ---- stock's rule ------------------------------------------------------- */

static enum policy_answer stock_after(unsigned round, int64_t dirty)
{
	const struct policy_stats stats = { .round = round, .written = 1000, .dirty = dirty };

	return policy_decide_stock(&stats);
}

static void stock_rule(void **state)
{
	(void)state;
	assert_int_equal(stock_after(0, 50), POLICY_CONTINUE);
	assert_int_equal(stock_after(4, INT64_MAX), POLICY_CONTINUE);
	assert_int_equal(stock_after(1, 49), POLICY_STOP);
	assert_int_equal(stock_after(0, 0), POLICY_STOP);
	assert_int_equal(stock_after(5, 1000000), POLICY_STOP);
	/* After a round nobody knows yet how many are dirty. */
	assert_int_equal(stock_after(4, -1), POLICY_CONTINUE);
	assert_int_equal(stock_after(5, -1), POLICY_STOP);
}

/* ---- ours: one measurement, varied -------------------------------------- */

/* 1000 pages at 10000 a second: 100 ms on top of the fixed part. */
static const struct policy_measured usual = {
	.round = 3, .dirty = 1000, .elapsed_s = 20, .send_rate = 10000, .dirty_rate = 1000, .cap = 100,
};

static struct policy_limits limits;

static int fresh_limits(void **state)
{
	(void)state;
	limits = policy_default_limits;
	return 0;
}

static void expect(const struct policy_measured *m, enum policy_answer answer, enum policy_reason reason)
{
	struct policy_verdict v = policy_decide(m, &limits);

	assert_int_equal(v.answer, answer);
	assert_int_equal(v.reason, reason);
}

static void stops_for_a_short_pause(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	limits.max_rounds = m.round;	/* no further round for a still shorter one */
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	m.dirty = 2000;		/* 300 ms, the default */
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	m.dirty = 2001;
	limits.max_rounds++;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	limits.max_rounds--;
	limits.max_pause_ms = 301;
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	/* Half the link's rate: sending what waits once more gains little. */
	m.dirty_rate = 5000;
	expect(&m, POLICY_STOP_NOW, POLICY_SHORT_PAUSE);
	m.dirty_rate = 4999;
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
}

/* Short enough, but a further round makes it shorter by what can be noticed. */
static void further_rounds_while_they_help(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.dirty = 101;		/* 10.1 ms */
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.dirty = 100;
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	m.dirty = 101;
	m.dirty_rate = 5000;
	expect(&m, POLICY_STOP_NOW, POLICY_SHORT_PAUSE);
	m.dirty_rate = 0;
	limits.max_time_s = m.elapsed_s;
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	limits.max_time_s = 0;
	m.stuck = POLICY_STUCK_ROUNDS;
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
}

static void predicts_the_pause(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	assert_int_equal((int)policy_decide(&m, &limits).pause_ms, POLICY_FIXED_MS + 100);
	m.dirty = 0;
	assert_int_equal((int)policy_decide(&m, &limits).pause_ms, POLICY_FIXED_MS);
	m.dirty = -1;
	assert_int_equal((int)policy_decide(&m, &limits).pause_ms, -1);
	m.dirty = 1000;
	m.send_rate = 0;
	assert_int_equal((int)policy_decide(&m, &limits).pause_ms, -1);
}

/* 10 pages in a ms, so 100 ms and the fixed part are sent; dirtied at a tenth of that rate. */
static void comparing_counts_in_the_pause(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	m.scan_ms = 100;
	assert_int_equal((int)policy_decide(&m, &limits).pause_ms, POLICY_FIXED_MS + 200);
	expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	m.scan_ms = 101;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.scan_ms = 0;
	m.verify_ms = 101;
	assert_int_equal((int)policy_decide(&m, &limits).pause_ms, POLICY_FIXED_MS + 201);
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
}

/* The pause can't be as short as wanted: it ends all the same, when it hardly gets shorter. */
static void comparing_alone_is_too_long(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	m.scan_ms = 1000;
	m.dirty_rate = 0;
	m.dirty = 1223;		/* 122.3 ms of 1222.3: a tenth */
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.dirty = 1222;
	expect(&m, POLICY_STOP, POLICY_NO_SHORTER);
	m.round = 1;
	expect(&m, POLICY_STOP, POLICY_NO_SHORTER);
	m.dirty_rate = 5000;
	expect(&m, POLICY_STOP_NOW, POLICY_NO_SHORTER);
	/* Where it could be as short as wanted, it shall be. */
	limits.max_pause_ms = 1100;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	limits.max_pause_ms = 1099;
	expect(&m, POLICY_STOP_NOW, POLICY_NO_SHORTER);
	/* A verify pass is as long whatever is done. */
	m.scan_ms = 0;
	m.verify_ms = 1000;
	expect(&m, POLICY_STOP_NOW, POLICY_NO_SHORTER);
	/* With log-dirty nothing changes: the fixed part is no reason. */
	m.verify_ms = 0;
	limits.max_pause_ms = 1;
	m.dirty = 60;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
}

/* 500 ms of sending and 1000 of comparing: so much is dirtied meanwhile, too. */
static void another_round_takes_little_off(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	m.scan_ms = 1000;
	m.dirty = 5000;
	m.dirty_rate = 2250;		/* 337.5 ms, 162.5 less, of 1600 */
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.dirty_rate = 2300;		/* 155 less */
	expect(&m, POLICY_STOP, POLICY_NO_SHORTER);
	m.dirty_rate = 9000;		/* it gets longer */
	expect(&m, POLICY_STOP_NOW, POLICY_NO_SHORTER);
	/* The first round says nothing about that, and a guest without headway is treated as one. */
	m.round = 1;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.round = 3;
	m.stuck = 1;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.stuck = POLICY_STUCK_ROUNDS;
	expect(&m, POLICY_STOP_NOW, POLICY_IS_STUCK);
	limits.when_stuck = POLICY_GIVE_UP;
	expect(&m, POLICY_ABORT, POLICY_IS_STUCK);
}

static void few_pages_need_no_rate(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	m.send_rate = m.dirty_rate = 0;
	m.dirty = POLICY_FEW_DIRTY;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.dirty = POLICY_FEW_DIRTY - 1;
	expect(&m, POLICY_STOP_NOW, POLICY_SHORT_PAUSE);
	/* However short the pause that was asked for: it can't be shorter. */
	limits.max_pause_ms = 1;
	expect(&m, POLICY_STOP_NOW, POLICY_SHORT_PAUSE);
}

/* Before the first round nothing was sent: all of memory is no last copy. */
static void never_before_the_first_round(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	m.round = 0;
	m.dirty = 0;
	m.elapsed_s = 1e9;
	m.stuck = 100;
	limits.max_time_s = 1;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	m.round = 1;
	m.dirty = -1;
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
}

static const enum policy_when_stuck ways[] = { POLICY_PAUSE, POLICY_THROTTLE, POLICY_GIVE_UP };

/* A limit of rounds or time ends it in each way, also when throttling: that is for a stuck guest. */
static void limits_of_rounds_and_time(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		enum policy_answer end = ways[i] == POLICY_GIVE_UP ? POLICY_ABORT : POLICY_STOP_NOW;
		struct policy_measured m = usual;

		limits = policy_default_limits;
		limits.when_stuck = ways[i];
		m.dirty = 100000;
		expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);

		limits.max_rounds = 4;
		expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
		limits.max_rounds = 3;
		expect(&m, end, POLICY_MAX_ROUNDS);
		limits.max_rounds = 0;
		m.round = 1000000;
		expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);

		limits.max_time_s = 20.5;
		expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
		limits.max_time_s = 20;
		expect(&m, end, POLICY_MAX_TIME);
		/* A pause as short as wanted is no reason to give up. */
		m.dirty = 1000;
		expect(&m, POLICY_STOP, POLICY_SHORT_PAUSE);
	}
}

static void stuck_guests(void **state)
{
	struct policy_measured m = usual;

	(void)state;
	m.dirty = 100000;
	m.dirty_rate = 20000;
	m.stuck = POLICY_STUCK_ROUNDS - 1;
	for (unsigned i = 0; i < 3; i++) {
		limits.when_stuck = ways[i];
		expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
	}
	m.stuck = POLICY_STUCK_ROUNDS;
	limits.when_stuck = POLICY_PAUSE;
	expect(&m, POLICY_STOP_NOW, POLICY_IS_STUCK);
	limits.when_stuck = POLICY_GIVE_UP;
	expect(&m, POLICY_ABORT, POLICY_IS_STUCK);
	assert_int_equal(policy_decide(&m, &limits).cap, 100);
}

static void throttles_step_by_step(void **state)
{
	struct policy_measured m = usual;
	unsigned steps = 0;

	(void)state;
	limits.when_stuck = POLICY_THROTTLE;
	m.dirty = 100000;
	m.stuck = POLICY_STUCK_ROUNDS;
	for (;; steps++) {
		struct policy_verdict v = policy_decide(&m, &limits);

		if (v.answer != POLICY_CONTINUE)
			break;
		assert_int_equal(v.reason, POLICY_NOT_YET);
		assert_in_range(v.cap, 1, m.cap - 1);
		m.cap = v.cap;
	}
	assert_in_range(steps, 3, 10);
	/* Nothing helped. */
	expect(&m, POLICY_STOP_NOW, POLICY_IS_STUCK);
	assert_int_equal(policy_next_cap(m.cap), m.cap);
	/* It helped: no further step. */
	m.cap = 60;
	m.stuck = 0;
	assert_int_equal(policy_decide(&m, &limits).cap, 60);
	expect(&m, POLICY_CONTINUE, POLICY_NOT_YET);
}

static void counts_rounds_without_headway(void **state)
{
	(void)state;
	assert_int_equal(policy_stuck(0, 1000, 1000), 1);
	assert_int_equal(policy_stuck(1, 1000, 5000), 2);
	assert_int_equal(policy_stuck(1, 1000, 800), 2);
	assert_int_equal(policy_stuck(1, 1000, 799), 0);
	/* So few that it is over anyway. */
	assert_int_equal(policy_stuck(1, 10, POLICY_FEW_DIRTY - 1), 0);
	assert_int_equal(policy_stuck(1, 10, POLICY_FEW_DIRTY), 2);
	assert_int_equal(policy_stuck(0, UINT64_MAX / 8, UINT64_MAX / 8), 1);
}

/* Whatever was measured: an answer of the right kind, a cap no higher than before, a reason with a name. */
static void any_measurement(void **state)
{
	static const int64_t dirty[] = { -1, 0, 49, 50, 2000, 100000, INT64_MAX };
	static const double rate[] = { 0, 1e-9, 1000, 1e12 };
	static const unsigned some[] = { 0, 1, 2, 30, 1000000 };
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < 7u * 4 * 4 * 5 * 5 * 3 * 5; i++) {
		struct policy_measured m = {
			.dirty = dirty[i % 7], .send_rate = rate[i / 7 % 4], .dirty_rate = rate[i / 28 % 4],
			.round = some[i / 112 % 5], .stuck = some[i / 560 % 5], .elapsed_s = some[i / 8400 % 5],
			.cap = i % 3 ? 100 : 5,
		};
		struct policy_verdict v;

		limits = policy_default_limits;
		limits.when_stuck = ways[i / 2800 % 3];
		limits.max_time_s = i % 2 ? 0 : 30;
		v = policy_decide(&m, &limits);
		seen |= 1u << (v.answer + 1);
		assert_in_range(v.cap, 1, m.cap);
		assert_true(v.cap == m.cap || v.answer == POLICY_CONTINUE);
		assert_true((v.reason == POLICY_NOT_YET) == (v.answer == POLICY_CONTINUE));
		assert_true(v.answer != POLICY_ABORT || limits.when_stuck == POLICY_GIVE_UP);
		assert_true(v.answer == POLICY_CONTINUE || (m.round && m.dirty >= 0));
		assert_string_not_equal(policy_reason_name(v.reason), "unknown");
	}
	assert_int_equal(seen, 0xf);
	assert_string_equal(policy_reason_name((enum policy_reason)99), "unknown");
	assert_string_equal(policy_reason_name(POLICY_CALLER), "caller");
}

#define TEST(f) cmocka_unit_test_setup(f, fresh_limits)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stock_rule),
		TEST(stops_for_a_short_pause),
		TEST(further_rounds_while_they_help),
		TEST(predicts_the_pause),
		TEST(comparing_counts_in_the_pause),
		TEST(comparing_alone_is_too_long),
		TEST(another_round_takes_little_off),
		TEST(few_pages_need_no_rate),
		TEST(never_before_the_first_round),
		TEST(limits_of_rounds_and_time),
		TEST(stuck_guests),
		TEST(throttles_step_by_step),
		TEST(counts_rounds_without_headway),
		TEST(any_measurement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
