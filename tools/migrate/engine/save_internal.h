/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of a save only. */
#ifndef XENFERRY_SAVE_INTERNAL_H
#define XENFERRY_SAVE_INTERNAL_H

#include "engine/batch.h"
#include "engine/save.h"
#include "stream/writer.h"

struct save {
	const struct save_job *job;
	struct guest *guest;
	struct xf_error *err;
	struct guest_info info;
	struct xf_writer *writer;
	struct batch *batch;
	uint64_t *dirty;	/* to be sent in this round */
	uint64_t *deferred;	/* to be sent in the last */
	uint64_t frames_now;	/* of the suspended guest; info.frames is what the bitmaps cover */
	bool qemu_logdirty, logdirty;	/* switched on by us */
	unsigned round;
	struct stats_round done;	/* the round finished last, not told yet */
	bool done_untold;
	/* for the statistics, CLOCK_MONOTONIC; 0: not reached */
	double suspended_at, suspend_ms, copied_at, state_begun_at, ended_at;
	uint64_t pages;		/* sent, without the verify pass */
};

/* memory: copies all of it and leaves the guest suspended */
int save_memory(struct save *s);

/* state */
int save_static_data(struct save *s);
int save_state(struct save *s);

#endif
