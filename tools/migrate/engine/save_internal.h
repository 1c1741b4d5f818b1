/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of a save only. */
#ifndef XENFERRY_SAVE_INTERNAL_H
#define XENFERRY_SAVE_INTERNAL_H

#include "engine/batch.h"
#include "engine/save.h"
#include "pv/source.h"
#include "stream/writer.h"

struct save {
	const struct save_job *job;
	struct guest *guest;	/* the job's, or what pv makes of it */
	struct pv_source *pv;	/* NULL: no PV guest */
	struct xf_error *err;
	struct guest_info info;
	struct xf_writer *writer;
	struct batch *batch;
	uint64_t *dirty;	/* to be sent in this round */
	uint64_t *deferred;	/* to be sent in the last */
	uint64_t frames_now;	/* of the suspended guest; info.frames is what the bitmaps cover */
	bool qemu_logdirty, tracking;	/* switched on by us */
	struct xcbatch_content *sent;	/* NULL: the hypervisor's log-dirty tracks */
	const char *tracker;		/* its name; NULL: nothing is tracked */
	unsigned threads;		/* that compare */
	double scan_s;			/* what the last comparison took, */
	uint64_t scanned;		/* of so many pages */
	uint64_t held;		/* pages the guest has, as seen last */
	bool ballooned;		/* that changed since the pages were collected last */
	bool out_of_time;	/* the round at hand was cut short */
	struct policy_measured measured;
	enum policy_reason stopped_for;
	unsigned round;
	struct stats_round done;	/* the round finished last, not told yet */
	double began_at;		/* when the first page went */
	bool done_untold;
	/* for the statistics, CLOCK_MONOTONIC; 0: not reached */
	double suspended_at, suspend_ms, collected_at, copied_at, state_begun_at, ended_at;
	uint64_t pages;		/* sent, without the verify pass */
};

/* memory: copies all of it and leaves the guest suspended */
int save_memory(struct save *s);

/* layout: leaves in `dirty` no more than what may be memory; the guest runs, with log-dirty on */
int save_find_memory(struct save *s);

/* precopy: copies what it can while the guest runs */
int save_precopy(struct save *s);
/* The guest gets so much of its CPU time; 100 gives all of it back. */
int save_throttle(struct save *s, unsigned percent);

/* rounds: passes over the bitmap, for both of the above */
int  save_send_marked(struct save *s, const char *name, uint64_t of);
int  save_round(struct save *s, const char *name, uint64_t of);
int  save_live_round(struct save *s, uint64_t of);
/* dirty: found at the round's end, -1 if nobody looked. */
void save_tell_round(struct save *s, int64_t dirty);
/* Notes whether the guest has more or less memory than when it was looked at last. */
int  save_watch_memory(struct save *s);
/* Leaves in `dirty` all that is memory now, and what was and has to be told of. */
int  save_look_again(struct save *s);

/* track: log-dirty, or contents compared */
int  save_track(struct save *s);
/* What was switched on for it is off again; also if nothing was. */
/* across: the save succeeded, and the guest waits for us. */
int  save_untrack(struct save *s, bool across);
/* Leaves in `dirty` what was written since it was sent. last: the guest is suspended. */
int  save_collect(struct save *s, bool last, uint64_t *dirty);

/* state */
int save_static_data(struct save *s);
int save_state(struct save *s);

#endif
