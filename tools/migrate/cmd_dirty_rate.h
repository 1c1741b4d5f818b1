/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of `xenferry dirty-rate`. */
#ifndef XENFERRY_CMD_DIRTY_RATE_H
#define XENFERRY_CMD_DIRTY_RATE_H

#include <stdio.h>

#include "helper/config.h"
#include "watch/watch.h"

#define DIRTY_RATE "dirty-rate"

struct dirty_rate_options {
	const char *domain;
	unsigned seconds;
	unsigned bandwidth;	/* Mbit/s, 0: not given */
	int json;
};

/* What there is to say, for people or for machines. config: the limits that a migration would have. */
struct dirty_rate_report {
	const struct dirty_rate_options *o;
	uint32_t domid;
	const struct watched *w;
	const struct config *config;
};
void dirty_rate_print(FILE *to, const struct dirty_rate_report *r);
/* 0 or a negative errno. */
int dirty_rate_json(FILE *to, const struct dirty_rate_report *r);

#endif
