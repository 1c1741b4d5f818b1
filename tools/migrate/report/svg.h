/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the picture only. */
#ifndef XENFERRY_SVG_H
#define XENFERRY_SVG_H

#include <stdio.h>

#define SVG_LEFT   80.0
#define SVG_WIDTH  900.0
#define SVG_RIGHT  24.0

#define SVG_BLUE   "#2b6cb0"
#define SVG_ORANGE "#dd6b20"
#define SVG_GREEN  "#2f855a"
#define SVG_PURPLE "#805ad5"
#define SVG_GREY   "#718096"

/* A panel's plot: values to places. */
struct svg_plot {
	FILE *to;
	double top, height;
	double x_max, y_max;
	int log;	/* y, from 1 on */
};

double svg_x(const struct svg_plot *p, double value);
double svg_y(const struct svg_plot *p, double value);
/* The least of 1, 2, 5 times a power of ten that makes no more than so many steps up to max. */
double svg_step(double max, unsigned steps);
/* A number as an axis has it: "0.5", "20", "3000". */
const char *svg_number(char buf[32], double value);

/* size in px; anchor: start, middle, end; the text is escaped, and what isn't printable becomes "?". */
void svg_text(FILE *to, double x, double y, int size, const char *anchor, const char *colour, const char *text);
void svg_rect(FILE *to, double x, double y, double w, double h, const char *colour, double opacity);
void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *colour, double width);
/* A title above the plot, lines with numbers for y, its label. */
void svg_frame(const struct svg_plot *p, const char *title, const char *y_label);
/* A coloured square and what it stands for; returns where the next one may begin. */
double svg_legend(FILE *to, double x, double y, const char *colour, const char *text);

#endif
