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

/* Milliseconds between two such points; -1 if either was not reached (0). */
static inline double clock_ms(double from, double to)
{
	return from && to ? (to - from) * 1e3 : -1;
}

#endif
