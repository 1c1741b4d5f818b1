/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a migration would be like: the rounds are played through with the same
 * rules, from how a guest was seen to dirty memory. Pure functions.
 */
#ifndef XENFERRY_FORECAST_H
#define XENFERRY_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* So many different pages were dirtied from the beginning until then. */
struct dirty_sample {
	double seconds;
	uint64_t pages;
};

struct dirty_curve {
	const struct dirty_sample *samples;	/* rising in both, the first one at 0, 0 */
	size_t n;
	uint64_t most;				/* pages the guest has */
};

/*
 * The most different pages it dirtied in any stretch of so many seconds. What
 * was not watched for so long goes on as it did in the last quarter.
 */
double dirty_curve_most(const struct dirty_curve *c, double seconds);

/* Pages a second in its busiest second (or all of the time, where that is less). */
double dirty_curve_rate(const struct dirty_curve *c);

struct forecast {
	unsigned rounds;		/* the last copy included */
	double pages, last_pages;	/* sent in all, and of those in the pause */
	double total_s, pause_ms;
	enum policy_reason reason;
	bool gives_up;			/* nothing is moved, and the last two say nothing */
	unsigned cap;			/* percent of its CPU time it is left with at the end */
};

/* rate: pages a second that the link takes. */
void forecast(const struct dirty_curve *c, double rate, const struct policy_limits *limits, struct forecast *out);

#endif
