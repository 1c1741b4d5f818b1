// SPDX-License-Identifier: LGPL-2.1-or-later
#include "policy/policy.h"

#define STOCK_ROUNDS 5
#define STOCK_FEW    50

/* A round made headway if less was dirtied in it than so many tenths of what it sent. */
#define HEADWAY_TENTHS 8

const struct policy_limits policy_default_limits = {
	.max_pause_ms = 300,
	.max_rounds   = 30,
	.max_time_s   = 0,
	.when_stuck   = POLICY_PAUSE,
};

enum policy_answer policy_decide_stock(const struct policy_stats *stats)
{
	if (stats->round >= STOCK_ROUNDS)
		return POLICY_STOP;
	if (stats->dirty >= 0 && stats->dirty < STOCK_FEW)
		return POLICY_STOP;
	return POLICY_CONTINUE;
}

const char *policy_reason_name(enum policy_reason reason)
{
	static const char *const names[] = {
		[POLICY_NOT_YET]     = "not-yet",
		[POLICY_SHORT_PAUSE] = "short-pause",
		[POLICY_IS_STUCK]    = "stuck",
		[POLICY_MAX_ROUNDS]  = "max-rounds",
		[POLICY_MAX_TIME]    = "max-time",
		[POLICY_NO_SHORTER]  = "no-shorter",
		[POLICY_CALLER]	     = "caller",
	};

	return (unsigned)reason < sizeof(names) / sizeof(names[0]) ? names[reason] : "unknown";
}

unsigned policy_stuck(unsigned before, uint64_t sent, uint64_t dirty)
{
	if (dirty < POLICY_FEW_DIRTY || (double)dirty * 10 < (double)sent * HEADWAY_TENTHS)
		return 0;
	return before + 1;
}

unsigned policy_next_cap(unsigned cap)
{
	static const unsigned steps[] = { 60, 35, 20, 10, 5 };

	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] < cap)
			return steps[i];
	return cap;
}

/* What a pause takes however few pages are left to send. */
static double floor_ms(const struct policy_measured *m)
{
	return POLICY_FIXED_MS + m->scan_ms + m->verify_ms;
}

static double sending_ms(const struct policy_measured *m, double pages)
{
	return pages / m->send_rate * 1000;
}

static double pause_ms(const struct policy_measured *m)
{
	if (m->dirty < 0 || m->send_rate <= 0)
		return -1;
	return floor_ms(m) + sending_ms(m, (double)m->dirty);
}

/*
 * Where comparing memory alone takes longer than the pause may be, no number
 * of rounds makes it short enough. It is over when the dirty pages are less than
 * a tenth of the pause, or when another round would take less than a tenth off it;
 * unless that is for want of headway, which is for the rules of a stuck guest.
 */
static int no_shorter(const struct policy_measured *m, const struct policy_limits *limits, double pause)
{
	double sending, next;

	if (pause < 0 || m->scan_ms + m->verify_ms <= 0 || floor_ms(m) <= limits->max_pause_ms)
		return 0;
	sending = sending_ms(m, (double)m->dirty);
	if (sending * 10 <= pause)
		return 1;
	next = sending_ms(m, m->dirty_rate * (sending + m->scan_ms) / 1000);
	return m->round >= 2 && !m->stuck && (sending - next) * 10 < pause;
}

static enum policy_reason limit_reached(const struct policy_measured *m, const struct policy_limits *limits)
{
	if (limits->max_time_s > 0 && m->elapsed_s >= limits->max_time_s)
		return POLICY_MAX_TIME;
	if (limits->max_rounds && m->round >= limits->max_rounds)
		return POLICY_MAX_ROUNDS;
	return m->stuck >= POLICY_STUCK_ROUNDS ? POLICY_IS_STUCK : POLICY_NOT_YET;
}

static int short_enough(const struct policy_measured *m, const struct policy_limits *limits, double pause)
{
	return m->round && (m->dirty < POLICY_FEW_DIRTY || (pause >= 0 && pause <= limits->max_pause_ms));
}

/* What waits would be a good part of the pause, and after another round less would wait. Comparing memory takes longer. */
static int worth_a_round(const struct policy_measured *m)
{
	return m->scan_ms <= 0 && m->dirty_rate * 2 < m->send_rate && (double)m->dirty * 1000 > m->send_rate * POLICY_WORTH_MS;
}

/* Sending live what waits makes the pause shorter where it is sent well faster than it is dirtied. */
static enum policy_answer how_to_stop(const struct policy_measured *m)
{
	return m->dirty_rate * 2 < m->send_rate ? POLICY_STOP : POLICY_STOP_NOW;
}

struct policy_verdict policy_decide(const struct policy_measured *m, const struct policy_limits *limits)
{
	struct policy_verdict v = { POLICY_CONTINUE, POLICY_NOT_YET, pause_ms(m), m->cap };
	unsigned next = policy_next_cap(m->cap);

	if (m->dirty < 0 || !m->round)
		return v;
	v.reason = limit_reached(m, limits);
	if (short_enough(m, limits, v.pause_ms)) {
		if (v.reason == POLICY_NOT_YET && worth_a_round(m))
			return v;
		v.answer = how_to_stop(m);
		v.reason = POLICY_SHORT_PAUSE;
		return v;
	}
	if (no_shorter(m, limits, v.pause_ms)) {
		v.answer = how_to_stop(m);
		v.reason = POLICY_NO_SHORTER;
		return v;
	}
	if (v.reason == POLICY_NOT_YET)
		return v;
	if (limits->when_stuck == POLICY_GIVE_UP) {
		v.answer = POLICY_ABORT;
	} else if (limits->when_stuck == POLICY_THROTTLE && v.reason == POLICY_IS_STUCK && next < m->cap) {
		v.cap = next;
		v.reason = POLICY_NOT_YET;
	} else {
		v.answer = POLICY_STOP_NOW;
	}
	return v;
}
