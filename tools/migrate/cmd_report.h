/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of `xenferry report`. */
#ifndef XENFERRY_CMD_REPORT_H
#define XENFERRY_CMD_REPORT_H

#include "cmd.h"
#include "cmd_migrate.h"
#include "report/chart.h"

#define REPORT "report"

struct report {
	struct chart_round rounds[EVENT_ROUNDS];
	struct chart chart;		/* of them */
};

/* Reads statistics lines, or the result of a migration. 0, or an exit status; then the sentence has been printed. */
int report_load(FILE *f, const char *name, struct report *r);

#endif
