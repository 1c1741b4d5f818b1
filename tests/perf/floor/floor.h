/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_FLOOR_INTERNAL_H
#define XENFERRY_FLOOR_INTERNAL_H

#include <linux/fs.h>
#include <linux/types.h>

#include <asm/tsc.h>

#include "xenferry_floor.h"

#define floor_clock() rdtsc_ordered()

/* A round: frames and, if they are to be replaced, the others; results go to ask. */
struct floor_round {
	struct file *file;
	struct xenferry_floor *ask;
	u64 *frames;
	u64 *others;		/* NULL: none */
};

int floor_pv(struct floor_round *round);
int floor_pvh(struct floor_round *round);

#endif
