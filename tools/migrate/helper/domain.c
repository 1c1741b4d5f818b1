// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper/domain.h"

#include <errno.h>
#include <string.h>
#include <xcbatch.h>

bool domain_is_ours(xc_interface *xch, uint32_t domid)
{
	xc_dominfo_t dom;
	unsigned width;

	if (xc_domain_getinfo(xch, domid, 1, &dom) != 1 || dom.domid != domid)
		return false;
	return dom.hvm || (!xc_domain_get_guest_width(xch, domid, &width) && width == 8);
}

static void report_no_guest(const struct report *report, uint32_t domid, int rc)
{
	char why[256];

	xcbatch_explain(rc, why, sizeof(why));
	report_error(report, "The memory of domain %u can't be reached: %s", domid, why);
}

/* Our statistics; a file that can't be opened costs a warning. */
static void open_stats(struct stats *stats, const struct run_job *job, const struct report *report)
{
	int rc = stats_open(stats, job->stats_path, job->side, "ours", job->domid);

	if (rc)
		report_warn(report, "No statistics: %s can't be appended to (%s); name another file in"
			    " XENFERRY_STATS.", job->stats_path, strerror(-rc));
}

int run_on_domain(const struct run_job *job, const struct report *report)
{
	struct xf_error err = { .code = 0 };
	struct guest *guest;
	struct stats stats;
	int rc = guest_xen_open(job->xch, job->domid, job->access, &guest);

	if (rc) {
		report_no_guest(report, job->domid, rc);
	} else {
		open_stats(&stats, job, report);
		rc = job->run(job->data, guest, &stats, report, &err);
		if (rc)
			report_error(report, "%s", err.text);
		stats_close(&stats);
		guest->ops->close(guest);
	}
	errno = rc ? -rc : 0;
	return rc ? -1 : 0;
}
