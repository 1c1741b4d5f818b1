/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/svg.h"

#include <math.h>
#include <string.h>

#define LETTER 6.2	/* about the width of one of 12 px */

double svg_x(const struct svg_plot *p, double value)
{
	return SVG_LEFT + (SVG_WIDTH - SVG_LEFT - SVG_RIGHT) * value / p->x_max;
}

double svg_y(const struct svg_plot *p, double value)
{
	double part = p->log ? (value < 1 ? 0 : log10(value) / log10(p->y_max)) : value / p->y_max;

	return p->top + p->height * (1 - part);
}

double svg_step(double max, unsigned steps)
{
	static const double factors[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10(max / steps)));

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (max / (factors[i] * power) <= steps)
			return factors[i] * power;
	return 10 * power;
}

const char *svg_number(char buf[32], double value)
{
	snprintf(buf, 32, value >= 1e7 ? "%.0e" : "%.6g", value);
	return buf;
}

void svg_text(FILE *to, double x, double y, int size, const char *anchor, const char *colour, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">", x, y, size, anchor,
		colour);
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", to);
		else if (*text == '>')
			fputs("&gt;", to);
		else if (*text == '&')
			fputs("&amp;", to);
		else
			fputc(*text >= ' ' && *text <= '~' ? *text : '?', to);
	}
	fputs("</text>\n", to);
}

void svg_rect(FILE *to, double x, double y, double w, double h, const char *colour, double opacity)
{
	fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" fill-opacity=\"%.2f\"/>\n",
		x, y, w > 0 ? w : 0, h > 0 ? h : 0, colour, opacity);
}

void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *colour, double width)
{
	fprintf(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
		x1, y1, x2, y2, colour, width);
}

static void y_tick(const struct svg_plot *p, double value)
{
	double y = svg_y(p, value);
	char number[32];

	svg_line(p->to, SVG_LEFT, y, SVG_WIDTH - SVG_RIGHT, y, "#e2e8f0", 1);
	svg_text(p->to, SVG_LEFT - 8, y + 4, 12, "end", SVG_GREY, svg_number(number, value));
}

void svg_frame(const struct svg_plot *p, const char *title, const char *y_label)
{
	double step = p->log ? 0 : svg_step(p->y_max, 5);

	svg_text(p->to, SVG_LEFT, p->top - 14, 14, "start", "#1a202c", title);
	if (p->log)
		for (double v = 1; v <= p->y_max * 1.001; v *= 10)
			y_tick(p, v);
	else
		for (unsigned k = 0; k * step <= p->y_max * 1.001; k++)
			y_tick(p, k * step);
	fprintf(p->to, "<g transform=\"translate(20 %.1f) rotate(-90)\">", p->top + p->height / 2);
	svg_text(p->to, 0, 0, 12, "middle", SVG_GREY, y_label);
	fputs("</g>\n", p->to);
	svg_line(p->to, SVG_LEFT, p->top + p->height, SVG_WIDTH - SVG_RIGHT, p->top + p->height, SVG_GREY, 1);
}

double svg_legend(FILE *to, double x, double y, const char *colour, const char *text)
{
	svg_rect(to, x, y - 9, 10, 10, colour, 1);
	svg_text(to, x + 15, y, 12, "start", "#2d3748", text);
	return x + 15 + (double)strlen(text) * LETTER + 18;
}
