/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a picture of a migration shows, and the picture. */
#ifndef XENFERRY_CHART_H
#define XENFERRY_CHART_H

#include <stddef.h>
#include <stdio.h>

struct chart_round {
	double begin, end;	/* seconds since the migration began */
	double pages, mib_s;
	double dirty, dirty_mib_s;	/* below 0: not known */
	int paused;		/* the last copy */
};

/* Below 0: not known. */
struct chart_pause {
	double suspend_ms, copy_ms, state_ms, rest_ms;
	double predicted_ms;
};

struct chart {
	char title[200], subtitle[300];
	const struct chart_round *rounds;
	size_t n;
	double suspended_at, ended_at;	/* seconds since the migration began; suspended_at below 0: it wasn't */
	struct chart_pause pause;
};

/* One SVG document. */
void chart_draw(FILE *to, const struct chart *c);

#endif
