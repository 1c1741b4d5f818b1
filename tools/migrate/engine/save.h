/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One save: a guest into a stream, live or not. */
#ifndef XENFERRY_SAVE_H
#define XENFERRY_SAVE_H

#include <stdbool.h>

#include "engine/report.h"
#include "engine/stats.h"
#include "guest/guest.h"
#include "policy/policy.h"
#include "stream/error.h"
#include "transport/transport.h"

/* What the caller does for us. Each returns 0 or a negative errno. */
struct save_hooks {
	int (*suspend)(void *data);
	/* Has the device model note what it writes. NULL: there is none to tell. */
	int (*qemu_logdirty)(void *data, bool on);
	/* Decides alone, limits or not. NULL: the limits decide. */
	enum policy_answer (*policy)(void *data, const struct policy_stats *stats);
	void *data;
};

/* How it is known which pages the guest wrote. */
enum tracker {
	TRACKER_AUTO,		/* by log-dirty, and where Xen has none for this guest, by content */
	TRACKER_LOG_DIRTY,
	TRACKER_CONTENT,
};

struct save_job {
	struct guest *guest;
	struct xf_transport *out;
	const struct save_hooks *hooks;
	const struct policy_limits *limits;
	const struct report *report;
	struct stats *stats;
	uint64_t max_bandwidth;	/* bytes a second while the guest runs, 0: no limit */
	bool elide_zeroes;	/* the receiver makes pages that come without contents zero */
	bool live;	/* copy while the guest runs */
	enum tracker tracker;
	unsigned threads;	/* that compare contents; 0: as many as processors, up to 8 */
	bool verify;	/* send all of memory again at the end, for the receiver to compare */
};

/*
 * 0, or a negative errno with the sentence in *err. Whatever comes out, nothing
 * is left switched on; the guest is suspended if the suspend hook got that far
 * (it is the caller who resumes it). The guest stays the caller's to close.
 */
int engine_save(const struct save_job *job, struct xf_error *err);

#endif
