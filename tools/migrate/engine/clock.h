/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef XENFERRY_CLOCK_H
#define XENFERRY_CLOCK_H

#include <time.h>

/* CLOCK_MONOTONIC in seconds. */
static inline double clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

#endif
