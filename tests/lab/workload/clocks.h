/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The longest stretch between two looks at the clocks: the pause the guest saw. MONOTONIC stands still while the
 * guest is suspended, REALTIME and BOOTTIME go on, so their difference is the suspended time itself.
 */
#ifndef WORKLOAD_CLOCKS_H
#define WORKLOAD_CLOCKS_H

#include <stdint.h>

struct clocks {
	int64_t real, boot, mono;		/* last seen, ns */
	int64_t real_gap, boot_gap, mono_gap;	/* longest since the last reset, ns */
	uint64_t backwards;			/* times MONOTONIC went back */
};

void clocks_start(struct clocks *clocks);
void clocks_look(struct clocks *clocks);
void clocks_reset_gaps(struct clocks *clocks);

#endif
