/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the two files of `xenferry bench`: options here, output there. */
#ifndef XENFERRY_CMD_BENCH_H
#define XENFERRY_CMD_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/bench.h"

#define CMD_BENCH_MAX_SIZES 32

struct cmd_bench_options {
	const char *domain;
	size_t sizes[CMD_BENCH_MAX_SIZES];
	size_t sizes_count;
	bool sizes_given;	/* else those that the domain is too small for are left out */
	size_t repeat;
	size_t limit_s;		/* longest a figure may take; 0: no limit */
	size_t rounds;		/* of map and unmap as a whole; 0: each on its own */
	const char *json;	/* file, or NULL */
	const char *marks;	/* file, or NULL */
	const char *mode;	/* what the rows are labelled with */
};

/* 0, or the exit status after an explanation on stderr. */
int cmd_bench_options(int argc, char **argv, struct cmd_bench_options *out);

void cmd_bench_table(FILE *to, const struct cmd_bench_options *o, const struct bench_target *target,
		     const struct bench_result *r);
/* Both return 0 or a negative errno. */
int cmd_bench_write_json(const struct cmd_bench_options *o, const struct bench_target *target,
			 const struct bench_result *r);
int cmd_bench_write_marks(const struct cmd_bench_options *o, const struct bench_result *r);

#endif
