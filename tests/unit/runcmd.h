/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the command under test as a user would, and keeps what it says. */
#ifndef RUNCMD_H
#define RUNCMD_H

#include <stddef.h>
#include <sys/types.h>

struct ran {
	int status;		/* exit status, 128 + signal */
	char out[65536];
	char err[65536];
};

/* XENFERRY in the environment names the command; args end with NULL, without argv[0]. */
void run_command(struct ran *r, const char *const args[]);
#define RUN(r, ...) run_command((r), (const char *const[]){ __VA_ARGS__, NULL })

/* The same in two steps, to do something in between. in: its standard input, -1 for empty. */
struct running_command {
	pid_t pid;
	int out, err;
};
void run_begin(struct running_command *c, const char *const args[], int in, int as_nobody);
void run_end(struct running_command *c, struct ran *r);

/* Fails the test, with what was said, unless all of that is so. */
void assert_ran(const struct ran *r, int status, const char *in_out, const char *in_err);

#endif
