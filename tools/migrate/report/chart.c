/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/chart.h"

#include "report/svg.h"

#define HEIGHT 760.0
#define WIDEST 60.0	/* bar of a round */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* ---- rates over time -------------------------------------------------------- */

static void x_axis(const struct svg_plot *p, const char *label)
{
	double step = svg_step(p->x_max, 10), y = p->top + p->height;
	char number[32];

	for (unsigned k = 0; k * step <= p->x_max * 1.001; k++) {
		svg_line(p->to, svg_x(p, k * step), y, svg_x(p, k * step), y + 4, SVG_GREY, 1);
		svg_text(p->to, svg_x(p, k * step), y + 17, 12, "middle", SVG_GREY, svg_number(number, k * step));
	}
	svg_text(p->to, (SVG_LEFT + SVG_WIDTH - SVG_RIGHT) / 2, y + 34, 12, "middle", SVG_GREY, label);
}

static void rates(FILE *to, const struct chart *c, double top)
{
	struct svg_plot p = { .to = to, .top = top, .height = 170, .x_max = c->ended_at, .y_max = 0 };
	double x = SVG_LEFT + 190;

	for (size_t i = 0; i < c->n; i++)
		p.y_max = larger(p.y_max, larger(c->rounds[i].mib_s, c->rounds[i].dirty_mib_s));
	p.y_max = p.y_max > 0 ? p.y_max * 1.05 : 1;
	svg_frame(&p, "Rates over time", "MiB/s");
	x = svg_legend(to, x, top - 14, SVG_BLUE, "sent");
	x = svg_legend(to, x, top - 14, SVG_ORANGE, "dirtied by the guest");
	if (c->suspended_at >= 0) {
		svg_legend(to, x, top - 14, "#a0aec0", "the guest is suspended");
		svg_rect(to, svg_x(&p, c->suspended_at), top,
			 larger(1.5, svg_x(&p, c->ended_at) - svg_x(&p, c->suspended_at)), p.height, "#a0aec0", 0.5);
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct chart_round *r = &c->rounds[i];
		double left = svg_x(&p, r->begin), width = larger(1, svg_x(&p, r->end) - left - 1);

		svg_rect(to, left, svg_y(&p, r->mib_s), width, top + p.height - svg_y(&p, r->mib_s), SVG_BLUE, 0.75);
		if (r->dirty_mib_s >= 0)
			svg_line(to, left, svg_y(&p, r->dirty_mib_s), left + width, svg_y(&p, r->dirty_mib_s),
				 SVG_ORANGE, 3);
	}
	x_axis(&p, "seconds since the migration began");
}

/* ---- pages of each round ------------------------------------------------------ */

static void bar(const struct svg_plot *p, double x, double width, double value, const char *colour, int numbered)
{
	char number[32];

	svg_rect(p->to, x, svg_y(p, value), width, p->top + p->height - svg_y(p, value), colour, 0.85);
	if (numbered)
		svg_text(p->to, x + width / 2, svg_y(p, value) - 4, 11, "middle", "#2d3748", svg_number(number, value));
}

static void rounds(FILE *to, const struct chart *c, double top)
{
	struct svg_plot p = { .to = to, .top = top, .height = 170, .x_max = (double)c->n, .y_max = 10, .log = 1 };
	unsigned each = (unsigned)(c->n / 25 + 1);
	char number[32];
	double most = 1;

	for (size_t i = 0; i < c->n; i++)
		most = larger(most, larger(c->rounds[i].pages, c->rounds[i].dirty));
	while (p.y_max < most)
		p.y_max *= 10;
	svg_frame(&p, "Pages of each round", "pages");
	svg_legend(to, svg_legend(to, SVG_LEFT + 190, top - 14, SVG_BLUE, "sent"), top - 14, SVG_ORANGE,
		   "dirty at its end");
	for (size_t i = 0; i < c->n; i++) {
		const struct chart_round *r = &c->rounds[i];
		double slot = svg_x(&p, 1) - svg_x(&p, 0), width = slot * 0.38 < WIDEST ? slot * 0.38 : WIDEST;
		double middle = svg_x(&p, (double)i + 0.5);

		bar(&p, middle - width, width, r->pages, SVG_BLUE, c->n <= 12);
		if (r->dirty >= 0)
			bar(&p, middle + 1, width, r->dirty, SVG_ORANGE, c->n <= 12);
		if (i % each == 0 || r->paused)
			svg_text(to, middle, top + p.height + 17, 12, "middle", SVG_GREY,
				 r->paused && c->n <= 12 ? "last copy" : svg_number(number, (double)i));
	}
	svg_text(to, (SVG_LEFT + SVG_WIDTH - SVG_RIGHT) / 2, top + p.height + 34, 12, "middle", SVG_GREY, "round");
}

/* ---- the pause ------------------------------------------------------------------ */

static void pause_parts(FILE *to, const struct chart *c, double top)
{
	const struct { const char *name, *colour; double ms; } part[] = {
		{ "suspending", SVG_GREY, c->pause.suspend_ms }, { "last copy", SVG_BLUE, c->pause.copy_ms },
		{ "state", SVG_GREEN, c->pause.state_ms }, { "until both sides ended", SVG_PURPLE, c->pause.rest_ms },
	};
	struct svg_plot p = { .to = to, .top = top, .height = 34, .x_max = 0, .y_max = 1 };
	double at = 0, x = SVG_LEFT;
	char text[80];

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		p.x_max += larger(0, part[i].ms);
	snprintf(text, sizeof(text), "The pause, suspending included: %.1f ms", p.x_max);
	svg_text(to, SVG_LEFT, top - 14, 14, "start", "#1a202c", p.x_max > 0 ? text : "The pause: nothing is known of one");
	if (p.x_max <= 0)
		return;
	p.x_max = larger(p.x_max, c->pause.predicted_ms) * 1.02;
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (part[i].ms < 0)
			continue;
		svg_rect(to, svg_x(&p, at), top, svg_x(&p, at + part[i].ms) - svg_x(&p, at), p.height, part[i].colour, 0.85);
		at += part[i].ms;
		snprintf(text, sizeof(text), "%s %.1f ms", part[i].name, part[i].ms);
		x = svg_legend(to, x, top + p.height + 58, part[i].colour, text);
	}
	svg_line(to, SVG_LEFT, top + p.height, SVG_WIDTH - SVG_RIGHT, top + p.height, SVG_GREY, 1);
	if (c->pause.predicted_ms >= 0) {
		svg_line(to, svg_x(&p, c->pause.predicted_ms), top - 6, svg_x(&p, c->pause.predicted_ms),
			 top + p.height + 6, SVG_ORANGE, 2.5);
		snprintf(text, sizeof(text), "as predicted %.1f ms", c->pause.predicted_ms);
		svg_legend(to, x, top + p.height + 58, SVG_ORANGE, text);
	}
	x_axis(&p, "ms");
}

void chart_draw(FILE *to, const struct chart *c)
{
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
		" font-family=\"sans-serif\">\n", SVG_WIDTH, HEIGHT, SVG_WIDTH, HEIGHT);
	svg_rect(to, 0, 0, SVG_WIDTH, HEIGHT, "#ffffff", 1);
	svg_text(to, 24, 34, 18, "start", "#1a202c", c->title);
	svg_text(to, 24, 56, 12, "start", SVG_GREY, c->subtitle);
	if (c->n) {
		rates(to, c, 106);
		rounds(to, c, 366);
	} else {
		svg_text(to, SVG_LEFT, 106, 14, "start", "#1a202c",
			 "The file has no rounds: the stock engine, which is timed from outside, tells none.");
	}
	pause_parts(to, c, 628);
	fputs("</svg>\n", to);
}
