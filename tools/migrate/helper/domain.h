/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both directions do around the engine. */
#ifndef XENFERRY_DOMAIN_H
#define XENFERRY_DOMAIN_H

#include <stdbool.h>
#include <xenctrl.h>

#include "engine/report.h"
#include "engine/stats.h"
#include "guest/xen.h"
#include "stream/error.h"

/*
 * Whether our engine knows such a guest: HVM, PVH, PV of 64 bits. false also when
 * there is no such domain: stock says so in its own words.
 */
bool domain_is_ours(xc_interface *xch, uint32_t domid);

/* One direction of the engine, and what to run it on. */
struct run_job {
	xc_interface *xch;
	uint32_t domid;
	enum guest_access access;
	const char *side;		/* as the statistics name it */
	const char *stats_path;		/* NULL: none wanted */
	int (*run)(const void *data, struct guest *guest, struct stats *stats,
		   const struct report *report, struct xf_error *err);
	const void *data;		/* for run */
};

/* Runs it with the guest's memory opened; what fails is reported. As libxenguest returns: 0, or -1 with errno set. */
int run_on_domain(const struct run_job *job, const struct report *report);

#endif
