/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH	  14
#define BAR_INTERVAL_US	  100000
#define COLUMNS_IF_UNSAID 80

int cmd_fail(const char *name, int status, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "xenferry %s: ", name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

int cmd_misuse(const char *name, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "xenferry %s: ", name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "; see \"xenferry %s --help\".\n", name);
	return XF_EXIT_USAGE;
}

int cmd_bad_option(const char *name, int opt, char **argv)
{
	if (opt == ':')
		return cmd_misuse(name, "found \"%s\" without a value, expected one behind it",
				  argv[optind - 1]);
	if (optopt && optopt < 256)
		return cmd_misuse(name, "found option \"-%c\", expected one of those it has", optopt);
	return cmd_misuse(name, "found \"%s\", expected one of the options it has", argv[optind - 1]);
}

uint64_t cmd_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

const char *cmd_size(char buf[32], uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	unsigned u = 0;

	while (value >= 1024 && u < 4) {
		value /= 1024;
		u++;
	}
	snprintf(buf, 32, u ? "%.1f %s" : "%.0f %s", value, units[u]);
	return buf;
}

void cmd_bar_init(struct cmd_bar *b, int wanted)
{
	*b = (struct cmd_bar){ .on = wanted && isatty(STDERR_FILENO) };
}

static int columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return COLUMNS_IF_UNSAID;
	return w.ws_col;
}

void cmd_bar_show(struct cmd_bar *b, uint64_t done, uint64_t total, const char *text)
{
	char bar[BAR_WIDTH + 1];
	uint64_t now;
	int fill, room;

	if (!b->on)
		return;
	now = cmd_now_us();
	if (b->shown && now - b->last_us < BAR_INTERVAL_US && done < total)
		return;
	b->last_us = now;
	b->shown = 1;
	room = columns() - 1;
	if (!total) {
		fprintf(stderr, "\r\033[K%.*s", room, text);
		return;
	}
	if (done > total)
		done = total;
	fill = (int)((double)done / (double)total * BAR_WIDTH);
	for (int i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < fill ? '=' : i == fill ? '>' : ' ';
	bar[BAR_WIDTH] = '\0';
	room -= BAR_WIDTH + 9;
	fprintf(stderr, "\r\033[K[%s] %3.0f %%  %.*s", bar, 100.0 * (double)done / (double)total,
		room > 0 ? room : 0, text);
}

void cmd_bar_hide(struct cmd_bar *b)
{
	if (b->shown)
		fputs("\r\033[K", stderr);
	b->shown = 0;
}
