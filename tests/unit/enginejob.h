/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A save or a restore of a simulated guest, with everything around it noted. */
#ifndef ENGINEJOB_H
#define ENGINEJOB_H

#include "engine/restore.h"
#include "engine/save.h"
#include "simguest.h"
#include "simpv.h"

#define JOB_TEXT  16384
#define JOB_ASKED 64

struct job {
	struct simguest *guest;		/* one of the two is NULL */
	struct simpv *pv;
	struct report report;
	struct stats stats;
	struct xf_error err;
	char said[JOB_TEXT];		/* every message, a line each */
	unsigned progress;		/* how often */

	/* save */
	struct save_hooks save_hooks;
	bool live, verify, elide_zeroes;
	struct policy_limits limits;	/* the default ones */
	uint64_t max_bandwidth;
	enum tracker tracker;
	unsigned threads;
	bool refuse_suspend, ignore_suspend;
	uint64_t grow_to;		/* frames from the suspend on, if not 0 */
	int qemu_refuses;		/* 1: to start, 2: to stop */
	bool qemu_logdirty;		/* is on */
	unsigned qemu_switched;
	unsigned suspends;
	unsigned n_asked;
	struct policy_stats asked[JOB_ASKED];
	enum policy_answer answers[JOB_ASKED];	/* to be given, if has_policy */

	/* restore */
	struct restore_hooks restore_hooks;
	struct restore_result result;
	unsigned static_done;		/* how often the hook was called, */
	unsigned missing;		/* with what */
	uint64_t populated_then;	/* pages there were then */
	int refuse_static;
	uint64_t size;
	bool single_pages;
};

void job_init(struct job *j, struct simguest *guest);
void job_init_pv(struct job *j, struct simpv *guest);
/* Have answers[] given instead of what the stock limits say. */
void job_ask(struct job *j);

int job_save(struct job *j, struct xf_transport *out);
int job_restore(struct job *j, struct xf_transport *in);

/* The sentence in err: begins with a capital, ends with a full stop, holds all of these (NULL ends). */
void job_expect_error(const struct job *j, const char *part, ...);
bool job_said(const struct job *j, const char *part);
/* How often it said something with this in it. */
unsigned job_said_times(const struct job *j, const char *part);

/* Whatever happened: log-dirty and the device model's are off. */
void job_expect_quiet(const struct job *j);

/* Same memory, except for pages cleared on arrival; same state; everything seeded. */
void expect_same_guest(const struct simguest *from, const struct job *restored);

/* Saves one guest and restores it as the other: both go well, quietly, and the guest is the same. */
void job_move(struct job *save, struct job *restore, struct xf_transport *stream);

#endif
