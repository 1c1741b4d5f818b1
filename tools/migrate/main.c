/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry: the subcommand table, and nothing else. */
#include "cmd.h"

#include <signal.h>
#include <string.h>

static const struct command commands[] = {
	{ "migrate", "move a running domain to another host", cmd_migrate },
	{ "dirty-rate", "watch how fast a domain dirties memory, and foretell its migration", cmd_dirty_rate },
	{ "report", "draw a migration's statistics as a picture", cmd_report },
	{ "inspect", "print and check a saved stream", cmd_inspect },
	{ "bench", "measure mapping and unmapping of guest memory", cmd_bench },
	{ "connect", "carry a migration to another host, in ssh's place", cmd_connect },
	{ "listen", "let configured hosts migrate to this one", cmd_listen },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *to)
{
	fputs("usage: xenferry COMMAND [OPTIONS] ...\n\n", to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("  help       this text, or that of a command: xenferry help COMMAND\n"
	      "\n"
	      "  --help     this text\n"
	      "  --version  the version\n"
	      "\n"
	      "Every command has its own --help, exit statuses included, and a manual page:\n"
	      "xenferry(1), xenferry-COMMAND(1).\n", to);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	fprintf(stderr, "xenferry: found \"%s\", expected a command (", name);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stderr, "%s, ", commands[i].name);
	fputs("help) or --version; see \"xenferry --help\".\n", stderr);
	return XF_EXIT_USAGE;
}

/* `xenferry help NAME` is `xenferry NAME --help`. */
static int help_on(char *name)
{
	char option[] = "--help";
	char *argv[] = { name, option, NULL };
	const struct command *c = find(name);

	return c ? c->run(2, argv) : unknown(name);
}

int main(int argc, char **argv)
{
	const struct command *c;

	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		help(stderr);
		return XF_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("xenferry " XENFERRY_VERSION);
		return XF_EXIT_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		if (argc > 2)
			return help_on(argv[2]);
		help(stdout);
		return XF_EXIT_OK;
	}
	c = find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}
