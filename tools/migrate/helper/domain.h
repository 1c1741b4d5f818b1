/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both directions do around the engine. */
#ifndef XENFERRY_DOMAIN_H
#define XENFERRY_DOMAIN_H

#include <stdbool.h>
#include <xenctrl.h>

#include "engine/report.h"
#include "engine/stats.h"

/* false also when there is no such domain: stock says so in its own words. */
bool domain_is_hvm(xc_interface *xch, uint32_t domid);

/* Why guest_xen_open failed. */
void report_no_guest(const struct report *report, uint32_t domid, int rc);

/* Our statistics; a file that can't be opened costs a warning. */
void open_stats(struct stats *stats, const char *path, const char *side, uint32_t domid,
		const struct report *report);

#endif
