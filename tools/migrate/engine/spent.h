/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the time of a save or a restore goes, in seconds. */
#ifndef XENFERRY_SPENT_H
#define XENFERRY_SPENT_H

#include "engine/clock.h"

struct spent {
	double types;		/* asking for the types of pages */
	double populate;	/* getting memory for pages */
	double map;		/* mapping pages */
	double zero;		/* looking for, or making, pages of zeroes */
	double io;		/* writing or reading the stream, the other side's slowness included */
	double dirty;		/* collecting dirty pages */
};

/* What lies between two points goes to *into; returns the later one. */
static inline double spent_since(double from, double *into)
{
	double now = clock_now();

	*into += now - from;
	return now;
}

#endif
