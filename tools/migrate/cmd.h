/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the subcommands of xenferry share. This is the layer that prints. */
#ifndef XENFERRY_CMD_H
#define XENFERRY_CMD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct command {
	const char *name;
	const char *summary;			/* one line of `xenferry --help` */
	int (*run)(int argc, char **argv);	/* argv[0] is the name; returns the exit status */
};

int cmd_migrate(int argc, char **argv);
int cmd_dirty_rate(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_connect(int argc, char **argv);
int cmd_listen(int argc, char **argv);

/* Exit statuses that mean the same everywhere; the rest are the subcommand's own. */
enum {
	XF_EXIT_OK = 0,
	XF_EXIT_FAILED = 1,
	XF_EXIT_USAGE = 2,
};

/*
 * "xenferry NAME: " and the sentence on stderr; returns status, so that an
 * error path is one line.
 */
int cmd_fail(const char *name, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a misuse: adds where help is to be found; returns XF_EXIT_USAGE. */
int cmd_misuse(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * What getopt_long returned as '?' or ':' as a sentence; the option string
 * begins with ":" so that getopt itself keeps quiet.
 */
int cmd_bad_option(const char *name, int opt, char **argv);

/* ---- a progress bar, on stderr if that is a terminal, else nothing --------- */

struct cmd_bar {
	int on;
	int shown;
	uint64_t last_us;
};
void cmd_bar_init(struct cmd_bar *b, int wanted);
/* done of total (0: unknown); text goes behind. At most ten times a second, unless the bar is full. */
void cmd_bar_show(struct cmd_bar *b, uint64_t done, uint64_t total, const char *text);
/* Off the screen, so that a line can be printed. */
void cmd_bar_hide(struct cmd_bar *b);

/* Prints all as JSON and releases it. 0 or a negative errno. */
struct json_object;
int cmd_write_json(FILE *to, struct json_object *all);

uint64_t cmd_now_us(void);
/* "12.3 MiB" into a static-size buffer; returns it. */
const char *cmd_size(char buf[32], uint64_t bytes);

#endif
