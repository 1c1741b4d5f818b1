/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A subcommand run within the test, what it says kept. */
#ifndef RUNINSIDE_H
#define RUNINSIDE_H

extern char out_text[65536], err_text[4096];

/* Returns its exit status. args[0] is its name, args[argc] NULL. */
int run_inside(int (*command)(int argc, char **argv), int argc, const char *const args[]);

#define RUN_INSIDE(command, ...) \
	run_inside(command, (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)), \
		   (const char *const[]){ __VA_ARGS__, NULL })

#endif
