/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When to stop precopying: a pure function of what was measured and of limits.
 */
#ifndef XENFERRY_POLICY_H
#define XENFERRY_POLICY_H

#include <stdint.h>

/* The values are those of XGS_POLICY_*. */
enum policy_answer {
	POLICY_ABORT    = -1,
	POLICY_CONTINUE = 0,
	POLICY_STOP     = 1,	/* suspend now and send what is left */
};

struct policy_stats {
	unsigned round;		/* rounds finished */
	uint64_t written;	/* pages sent so far */
	int64_t  dirty;		/* pages to send now, -1 if not known yet */
};

struct policy_limits {
	unsigned max_rounds;	/* stop after this many */
	uint64_t few_dirty;	/* stop when fewer are dirty */
};

/* What stock Xen does: five rounds, or fewer than 50 dirty pages. */
extern const struct policy_limits policy_stock_limits;

enum policy_answer policy_decide(const struct policy_stats *stats,
				 const struct policy_limits *limits);

#endif
