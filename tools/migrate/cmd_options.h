/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of the subcommands, by a table. */
#ifndef XENFERRY_CMD_OPTIONS_H
#define XENFERRY_CMD_OPTIONS_H

#include <stdbool.h>

#define CMD_OPTIONS_MAX 24

/* Where it goes says what it is: one of flag, text and number is given. */
struct cmd_option {
	const char *name;		/* without dashes; NULL ends the table */
	char letter;			/* 0: it has none */
	int *flag;			/* becomes 1 */
	const char **text;		/* what was given */
	unsigned *number;		/* a whole number */
	unsigned least, most;		/* of a number, and of a text that must be one (most not 0) */
	const char *const *words;	/* the text is one of these (NULL ends them) */
};

struct cmd_usage {
	const char *command;
	const char *help;		/* what --help and -h print; they aren't in the table */
	const struct cmd_option *options;
	bool host_first;		/* what follows the first argument is no option of ours */
};

/*
 * 0, with optind at the first argument; or, when there is no more to do, an
 * exit status + 1, and the sentence or the help has been printed.
 */
int cmd_options(const struct cmd_usage *usage, int argc, char **argv);

#endif
