/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The JSON lines of docs/statistics.md. */
#ifndef XENFERRY_STATS_H
#define XENFERRY_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/spent.h"

struct stats {
	int fd;			/* -1: nobody wants them */
	const char *side;	/* "save" or "restore" */
	const char *engine;	/* "ours" or "stock" */
	uint32_t domid;
	double started;
	double last_progress;
	bool behind;		/* the reader of a FIFO is: lines are dropped */
};

/*
 * path NULL or "": every stats_* call does nothing. A negative errno when the
 * file can't be opened; the object is then usable and silent all the same.
 */
int  stats_open(struct stats *s, const char *path, const char *side,
		const char *engine, uint32_t domid);
void stats_close(struct stats *s);
static inline bool stats_wanted(const struct stats *s) { return s->fd >= 0; }

void stats_save_start(struct stats *s, uint64_t pages, bool live);
void stats_restore_start(struct stats *s, uint64_t pages);
struct stats_progress {
	unsigned round;
	uint64_t sent, of;	/* pages */
	uint64_t bytes;		/* since the save began */
	double dirty_rate;	/* pages a second in the round before, below 0: not known */
};
/* At most four a second get written. */
void stats_progress(struct stats *s, const struct stats_progress *p);

struct stats_round {
	unsigned round;
	uint64_t pages, bytes;
	double seconds;
	int64_t dirty;		/* -1: not known */
	double dirty_rate;	/* pages a second, below 0: not known */
	double pause_ms;	/* predicted, below 0: not known */
	double scan_ms;		/* comparing memory at its end, below 0: not done */
	uint64_t scanned;	/* pages, in that time */
	unsigned cap;		/* percent of its CPU time the guest had */
};
void stats_round(struct stats *s, const struct stats_round *r);
void stats_suspended(struct stats *s, double suspend_ms);

/* Members below 0 were not measured and are left out. */
struct stats_save_end {
	int result;
	double memory_s;
	int64_t bytes, rounds, pages, zero_pages, elided;
	const char *tracker;		/* NULL: nothing was tracked */
	double scan_s;			/* the last comparison of memory, below 0: none */
	uint64_t scanned;		/* pages, in that time */
	const char *stopped_for;	/* NULL: not stopped by a policy of ours */
	double suspend_ms, collect_ms, last_copy_ms, state_ms, release_ms;
	const struct spent *spent;	/* NULL: not measured */
};
void stats_save_end(struct stats *s, const struct stats_save_end *e);

struct stats_restore_end {
	int result;
	int64_t bytes, pages, cleared, put_right;
	double apply_ms, give_back_ms, complete_ms;
	const struct spent *spent;	/* NULL: not measured */
};
void stats_restore_end(struct stats *s, const struct stats_restore_end *e);

#endif
