/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bench-counters: the driver's own counters since it was loaded, as key=value; nothing from the stock driver. */
#include <inttypes.h>
#include <stdio.h>

#include "xcbatch.h"

int main(void)
{
	struct xcbatch_counters c;
	struct xcbatch *xb;

	if (xcbatch_open(&xb) < 0)
		return 1;
	if (xcbatch_counters(xb, &c) == 0)
		printf("mapped=%" PRIu64 " unmapped=%" PRIu64 " hypercalls=%" PRIu64 " flushes=%" PRIu64 "\n",
		       c.map_entries, c.clear_entries, c.map_hypercalls + c.clear_hypercalls, c.flushes);
	xcbatch_close(xb);
	return 0;
}
