// SPDX-License-Identifier: LGPL-2.1-or-later
#include "policy/forecast.h"

/* Without limits a forecast ends all the same. */
#define ROUNDS_MAX 10000

static const struct dirty_sample *last(const struct dirty_curve *c)
{
	return &c->samples[c->n - 1];
}

/* At that time of the watch, between two samples on a straight line. `from`: a sample not behind it. */
static double at(const struct dirty_curve *c, double seconds, size_t *from)
{
	const struct dirty_sample *a, *b;

	while (*from + 2 < c->n && c->samples[*from + 1].seconds <= seconds)
		++*from;
	a = &c->samples[*from];
	b = a + 1;
	if (*from + 1 >= c->n || seconds >= last(c)->seconds || b->seconds <= a->seconds)
		return (double)(seconds < last(c)->seconds ? a->pages : last(c)->pages);
	return (double)a->pages + (double)(b->pages - a->pages) * (seconds - a->seconds) / (b->seconds - a->seconds);
}

static double beyond(const struct dirty_curve *c, double seconds)
{
	double watched = last(c)->seconds, all = (double)last(c)->pages;
	size_t from = 0;

	if (watched <= 0)
		return all;
	return all + (all - at(c, watched * 0.75, &from)) / (watched * 0.25) * (seconds - watched);
}

double dirty_curve_most(const struct dirty_curve *c, double seconds)
{
	double watched = c->n ? last(c)->seconds : 0, most = 0, pages;
	size_t end = 0, begin = 0;

	if (!c->n || seconds <= 0)
		return 0;
	if (seconds >= watched) {
		most = beyond(c, seconds);
	} else {
		/* The last stretch, and those that begin with a sample. */
		most = (double)last(c)->pages - at(c, watched - seconds, &begin);
		for (size_t i = 0; i < c->n && c->samples[i].seconds + seconds <= watched; i++) {
			pages = at(c, c->samples[i].seconds + seconds, &end) - (double)c->samples[i].pages;
			most = pages > most ? pages : most;
		}
	}
	return most < (double)c->most ? most : (double)c->most;
}

double dirty_curve_rate(const struct dirty_curve *c)
{
	double seconds = c->n && last(c)->seconds < 1 ? last(c)->seconds : 1;

	return seconds > 0 ? dirty_curve_most(c, seconds) / seconds : 0;
}

/* A live round of so many pages; returns what was dirtied meanwhile, in whole pages. */
static double play_round(const struct dirty_curve *c, double rate, double pages, unsigned cap, struct forecast *f)
{
	f->rounds++;
	f->pages += pages;
	f->total_s += pages / rate;
	return (double)(uint64_t)dirty_curve_most(c, pages / rate * cap / 100);
}

/* What follows the verdict: perhaps another round, then the pause. */
static void finish(const struct dirty_curve *c, double rate, const struct policy_verdict *v, double dirty,
		   struct forecast *f)
{
	f->reason = v->reason;
	f->gives_up = v->answer == POLICY_ABORT;
	if (f->gives_up)
		return;
	f->last_pages = v->answer == POLICY_STOP && dirty > 0 ? play_round(c, rate, dirty, f->cap, f) : dirty;
	f->rounds++;
	f->pages += f->last_pages;
	f->pause_ms = POLICY_FIXED_MS + f->last_pages / rate * 1000;
	f->total_s += f->pause_ms / 1000;
}

void forecast(const struct dirty_curve *c, double rate, const struct policy_limits *limits, struct forecast *out)
{
	struct policy_measured m = { .cap = 100, .send_rate = rate };
	struct policy_verdict v;
	double marked = (double)c->most, dirty;

	*out = (struct forecast) { .cap = 100 };
	for (;;) {
		dirty = play_round(c, rate, marked, m.cap, out);
		m.dirty_rate = marked > 0 ? dirty / (marked / rate) : 0;
		m.stuck = m.round ? policy_stuck(m.stuck, (uint64_t)marked, (uint64_t)dirty) : 0;
		m.round++;
		m.dirty = (int64_t)dirty;
		m.elapsed_s = out->total_s;
		v = policy_decide(&m, limits);
		if (v.answer != POLICY_CONTINUE)
			break;
		if (m.round >= ROUNDS_MAX) {
			v.answer = POLICY_STOP_NOW;
			break;
		}
		/* Each further round without headway takes it a step down, as in the engine. */
		if (v.cap != m.cap)
			m.stuck = POLICY_STUCK_ROUNDS - 1;
		m.cap = out->cap = v.cap;
		marked = dirty;
	}
	finish(c, rate, &v, dirty, out);
}
