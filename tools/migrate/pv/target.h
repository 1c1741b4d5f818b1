/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A PV guest that is received: to the engine a guest of pfns like any other.
 * Page tables stay as they came, with pfns in their entries, until all of
 * memory is there; then everything that names frames is made to name the
 * machine's, in the order of the functions below. See decisions.md.
 */
#ifndef XENFERRY_PV_TARGET_H
#define XENFERRY_PV_TARGET_H


#include "guest/xen_abi.h"
#include "pv/forward.h"
#include "pv/frames.h"
#include "stream/error.h"

struct pv_target {
	struct pv_around around;
	struct guest_pv_info info;
	struct pv_frames frames;	/* its P2M is the one made here */
	uint64_t *p2m;
	uint8_t *types;			/* XF_PAGE_* for each entry of the P2M */
};

static inline struct guest *pv_target_guest(struct pv_target *t)
{
	return &t->around.base;
}

/* As pv_source_open. No pfn has memory; none can be had before pv_target_cover. */
int  pv_target_open(struct guest *raw, struct pv_target **out, struct xf_error *err);
void pv_target_close(struct pv_target *t);	/* NULL is allowed */

/* The guest has so many pfns, or more already. -ENOMEM */
int  pv_target_cover(struct pv_target *t, uint64_t pfns);
/* Words of a PAGE_DATA record, whose pages have come. */
void pv_target_note(struct pv_target *t, const uint64_t *words, size_t n);

/* ---- when all of memory is there, each 0 or a negative errno with the sentence; uses the guest's window ---- */

/* Writes the P2M into the n pages of it, pfns as in X86_PV_P2M_FRAMES (PV_NO_FRAME: the stream didn't say). */
int pv_target_write_p2m(struct pv_target *t, const uint64_t *pfns, size_t n, struct xf_error *err);
int pv_target_localise(struct pv_target *t, struct xf_error *err);
/* from: a page, as the source had it. */
int pv_target_shared_info(struct pv_target *t, const shared_info_t *from, struct xf_error *err);

struct pv_start_info {
	uint64_t pfn;			/* where it lies */
	uint64_t pages;			/* how many pfns the guest is to know of */
	unsigned store_port, console_port;	/* event channels */
	uint64_t store_frame, console_frame;	/* found there */
};
int pv_target_start_info(struct pv_target *t, struct pv_start_info *s, struct xf_error *err);
/* The window is empty afterwards, and must not be used again. */
int pv_target_pin(struct pv_target *t, struct xf_error *err);

#endif
