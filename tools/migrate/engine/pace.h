/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps a stream under a bandwidth. */
#ifndef XENFERRY_PACE_H
#define XENFERRY_PACE_H

#include <stdint.h>

struct pace {
	double limit;		/* bytes a second, 0: none */
	double from;		/* when counting began, 0: not yet */
	uint64_t base;		/* what had been written then */
};

/* Counting begins with what is written after this; nothing if it has begun. */
void pace_begin(struct pace *p, uint64_t written);

/* Waits until so many bytes may have been written. A signal ends the wait early. */
void pace_wait(struct pace *p, uint64_t written);

#endif
