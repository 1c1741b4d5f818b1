// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/string.h>

#include "counters.h"
#include "remap.h"

DEFINE_PER_CPU(struct xenferry_counters, remap_counts);

void remap_counters(struct xenferry_counters *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct xenferry_counters *c = per_cpu_ptr(&remap_counts, cpu);

		sum->map_hypercalls += READ_ONCE(c->map_hypercalls);
		sum->map_entries += READ_ONCE(c->map_entries);
		sum->clear_hypercalls += READ_ONCE(c->clear_hypercalls);
		sum->clear_entries += READ_ONCE(c->clear_entries);
		sum->flushes += READ_ONCE(c->flushes);
		sum->failed_entries += READ_ONCE(c->failed_entries);
	}
}
