/* SPDX-License-Identifier: GPL-2.0-only */
/* Per-CPU so that mappers on several CPUs don't share a cache line. */
#ifndef XENFERRY_ARCH_COUNTERS_H
#define XENFERRY_ARCH_COUNTERS_H

#include <linux/percpu.h>

#include <xen/xenferry_privcmd.h>

DECLARE_PER_CPU(struct xenferry_counters, remap_counts);

#define remap_count(field, n) this_cpu_add(remap_counts.field, (n))

#endif
