/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places where an allocation or a hypercall can be told to fail, for tests:
 * each stands inside one of the two below, which are nothing but the call in
 * the module that is installed. `make module INJECT=y` builds the other one.
 *
 * There, writing k to the parameter inject_at arms it for the process that
 * writes: the k-th place it passes from then on fails. inject_seen tells how
 * many it has passed; 0 disarms.
 */
#ifndef XENFERRY_INJECT_H
#define XENFERRY_INJECT_H

#include <linux/types.h>

#ifdef XENFERRY_INJECT
bool inject_fault(void);
#else
static inline bool inject_fault(void)
{
	return false;
}
#endif

/* An allocation. */
#define may_lack(allocation) (inject_fault() ? NULL : (allocation))
/* A call that says an errno, and this one where it is told to fail. */
#define may_fail(error, call) (inject_fault() ? (error) : (call))

#endif
