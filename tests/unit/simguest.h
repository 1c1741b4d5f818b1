/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A guest made of a memory file: everything the engine can ask of one, with
 * writes while it runs, pages that go away, and any call failing on demand.
 */
#ifndef SIMGUEST_H
#define SIMGUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/guest.h"

#define SIM_PARAMS 64
#define SIM_CAPS   32

struct simguest {
	struct guest base;
	uint64_t frames;		/* room; info.frames is the size of the p2m */
	int memory;			/* file: frame n at n pages */
	char *direct;			/* all of it, mapped for the test */
	char *window;
	char *lanes[GUEST_LANES];	/* windows of their own, NULL until used */
	bool writable;
	uint8_t *types;			/* XF_PAGE_*; XTAB: nothing there */
	uint64_t populated;		/* frames that came by populate */
	uint64_t host_pages;		/* what populate can still take */
	unsigned largest_piece;		/* order of the largest there is; 0: none larger than a page */
	unsigned pieces, pieces_asked;
	uint64_t refuse_above;		/* Xen's limit for the domain: no more single pages than that; 0: none */
	uint64_t given_back;		/* frames that went by depopulate */
	uint64_t uncounted;		/* pages it holds that are not in the p2m */
	bool dirty_memory;		/* memory comes with somebody's old contents */
	uint64_t asked;			/* frames whose types were asked for */
	bool no_throttle;
	unsigned cap;			/* percent; 100 in the end */
	unsigned caps[SIM_CAPS], n_caps;
	struct guest_info info;

	uint64_t *dirty;		/* NULL: log-dirty off */
	uint64_t tracked;		/* frames it covers */
	bool no_log_dirty;		/* this Xen has none */
	bool guarded;			/* between dirty_start or guard_start and dirty_stop */
	bool last_collected;
	unsigned starts, stops;
	unsigned stops_later;		/* of those, left to somebody else */
	int stop_fails;			/* what switching off says */

	/* While it isn't suspended, called in every types, collect and map_lane. */
	void (*run)(struct simguest *s);
	uint64_t seed;

	uint64_t unmappable;		/* this frame can't be mapped ... */
	unsigned unmappable_times;	/* ... so many times */

	/* The call that fails with fail_with, counted from 1 over all ops; 0: none. */
	unsigned fail_at;
	int fail_with;
	unsigned calls;
	const char *failed;		/* which op it was */

	uint64_t params[SIM_PARAMS];
	bool param_set[SIM_PARAMS];
	struct guest_tsc tsc;
	struct guest_blob context, cpuid, msrs;
	struct guest_seed seeded;
	bool is_seeded;
	unsigned windows_open;
};

/* All frames are holes. max_pages is `frames`. */
void sim_init(struct simguest *s, uint64_t frames, bool writable);
/* Frees it and checks that log-dirty is off. */
void sim_free(struct simguest *s);

/* What a fresh source has: state of every kind, and contents in [from, to). */
void sim_fill(struct simguest *s, uint64_t from, uint64_t to);
char *sim_page(const struct simguest *s, uint64_t gfn);
/* The guest writes a word into a page. */
void sim_write(struct simguest *s, uint64_t gfn, uint64_t value);
/* Writes into most of its pages; for `run`. */
void sim_rewrite(struct simguest *s);
/* Writes into a few random pages; for `run`. */
void sim_work(struct simguest *s);

#endif
