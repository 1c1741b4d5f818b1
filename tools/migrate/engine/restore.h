/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One restore: a stream into a domain that has been created for it. */
#ifndef XENFERRY_RESTORE_H
#define XENFERRY_RESTORE_H

#include "engine/report.h"
#include "engine/stats.h"
#include "guest/guest.h"
#include "stream/error.h"
#include "transport/transport.h"

/* What a stream may lack; the values are those of XGR_SDD_MISSING_*. */
#define RESTORE_MISSING_CPUID 1u
#define RESTORE_MISSING_MSR   2u

struct restore_hooks {
	/*
	 * The static data is complete but for what is missing, which the caller
	 * makes up for. 0 or a negative errno. NULL: nobody cares.
	 */
	int (*static_data_done)(void *data, unsigned missing);
	void *data;
};

/* The far end of the guest's store or console. */
struct restore_channel {
	unsigned evtchn;
	uint32_t domid;
};

struct restore_job {
	struct guest *guest;
	struct xf_transport *in;
	uint64_t size;		/* bytes the input holds, 0: not known */
	bool single_pages;	/* no memory in pieces of 2 MiB and 1 GiB */
	const struct restore_hooks *hooks;
	struct restore_channel store, console;
	const struct report *report;
	struct stats *stats;
};

struct restore_result {
	uint64_t store_gfn, console_gfn;
	uint64_t mismatches;	/* pages of a verify pass that differed and were put right; each is reported */
};

/*
 * 0, or a negative errno with the sentence in *err. Reads up to the END record
 * and not a byte more. The guest stays the caller's to close, and to destroy
 * after a failure.
 */
int engine_restore(const struct restore_job *job, struct restore_result *result,
		   struct xf_error *err);

#endif
