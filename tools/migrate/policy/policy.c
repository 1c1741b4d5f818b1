// SPDX-License-Identifier: LGPL-2.1-or-later
#include "policy/policy.h"

const struct policy_limits policy_stock_limits = {
	.max_rounds = 5,
	.few_dirty  = 50,
};

enum policy_answer policy_decide(const struct policy_stats *stats,
				 const struct policy_limits *limits)
{
	if (stats->round >= limits->max_rounds)
		return POLICY_STOP;
	if (stats->dirty >= 0 && (uint64_t)stats->dirty < limits->few_dirty)
		return POLICY_STOP;
	return POLICY_CONTINUE;
}
