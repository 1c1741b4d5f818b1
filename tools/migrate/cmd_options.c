/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* getopt's number for option i of the table; letters are below. */
#define FIRST 256

static bool takes_value(const struct cmd_option *o)
{
	return !o->flag;
}

static int take_number(const struct cmd_usage *u, const struct cmd_option *o)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(optarg, &end, 10);
	if (errno || *optarg < '0' || *optarg > '9' || *end || n < o->least || n > o->most)
		return cmd_misuse(u->command, "found \"%s\" for --%s, expected a whole number from %u to %u", optarg,
				  o->name, o->least, o->most) + 1;
	if (o->number)
		*o->number = (unsigned)n;
	return 0;
}

static int take_word(const struct cmd_usage *u, const struct cmd_option *o)
{
	char known[128] = "";
	size_t at = 0;

	for (const char *const *w = o->words; *w; w++) {
		if (!strcmp(optarg, *w))
			return 0;
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", *w, !w[1] ? "" : w[2] ? ", " : " or ");
	}
	return cmd_misuse(u->command, "found \"%s\" for --%s, expected %s", optarg, o->name, known) + 1;
}

static int take(const struct cmd_usage *u, const struct cmd_option *o)
{
	int ret = 0;

	if (o->flag) {
		*o->flag = 1;
		return 0;
	}
	if (o->words)
		ret = take_word(u, o);
	else if (o->number || o->most)
		ret = take_number(u, o);
	if (!ret && o->text)
		*o->text = optarg;
	return ret;
}

static const struct cmd_option *find(const struct cmd_usage *u, int opt)
{
	if (opt >= FIRST)
		return &u->options[opt - FIRST];
	for (const struct cmd_option *o = u->options; o->name; o++)
		if (o->letter == opt)
			return o;
	return NULL;
}

/* The table as getopt wants it. */
static void for_getopt(const struct cmd_usage *u, struct option longs[CMD_OPTIONS_MAX + 2],
		       char letters[2 * CMD_OPTIONS_MAX + 4])
{
	int n = 0;

	/* ":" keeps getopt from printing. */
	letters += sprintf(letters, "%s:h", u->host_first ? "+" : "");
	for (const struct cmd_option *o = u->options; o->name && n < CMD_OPTIONS_MAX; o++, n++) {
		longs[n] = (struct option) { o->name, takes_value(o), NULL, FIRST + n };
		if (o->letter)
			letters += sprintf(letters, "%c%s", o->letter, takes_value(o) ? ":" : "");
	}
	longs[n] = (struct option) { "help", 0, NULL, 'h' };
	longs[n + 1] = (struct option) { NULL, 0, NULL, 0 };
}

int cmd_options(const struct cmd_usage *u, int argc, char **argv)
{
	struct option longs[CMD_OPTIONS_MAX + 2];
	char letters[2 * CMD_OPTIONS_MAX + 4];
	int opt, ret;

	for_getopt(u, longs, letters);
	optind = 0;	/* 1 would leave what an earlier call found out of the letters */
	while ((opt = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (opt == 'h') {
			fputs(u->help, stdout);
			return XF_EXIT_OK + 1;
		}
		if (opt == '?' || opt == ':')
			return cmd_bad_option(u->command, opt, argv) + 1;
		ret = take(u, find(u, opt));
		if (ret)
			return ret;
	}
	return 0;
}
