// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper/domain.h"

#include <string.h>
#include <xcbatch.h>

bool domain_is_hvm(xc_interface *xch, uint32_t domid)
{
	xc_dominfo_t dom;

	return xc_domain_getinfo(xch, domid, 1, &dom) == 1 && dom.domid == domid && dom.hvm;
}

void report_no_guest(const struct report *report, uint32_t domid, int rc)
{
	char why[256];

	xcbatch_explain(rc, why, sizeof(why));
	report_error(report, "The memory of domain %u can't be reached: %s", domid, why);
}

void open_stats(struct stats *stats, const char *path, const char *side, uint32_t domid,
		const struct report *report)
{
	int rc = stats_open(stats, path, side, "ours", domid);

	if (rc)
		report_warn(report, "No statistics: %s can't be appended to (%s); name another file in"
			    " XENFERRY_STATS.", path, strerror(-rc));
}
