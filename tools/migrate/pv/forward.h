/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ops that mean the same for pfns and mfns, handed on to the backend; and those no PV guest has. */
#ifndef XENFERRY_PV_FORWARD_H
#define XENFERRY_PV_FORWARD_H

#include "guest/guest.h"
#include "pv/frames.h"
#include "stream/error.h"

/* What pv/ puts around a backend begins with this. */
struct pv_around {
	struct guest base;
	struct guest *raw;
};

static inline struct guest *pv_raw(struct guest *g)
{
	return ((struct pv_around *)g)->raw;	/* base is the first member */
}

/* A backend without PV guests has one: -EOPNOTSUPP with the sentence. */
int pv_unknown(const struct guest *raw, struct xf_error *err);

/* What is mapped are the frames behind the pfns. n up to GUEST_BATCH. */
int pv_forward_map(struct guest *g, const struct pv_frames *f, const uint64_t *pfns, size_t n, int *errs, void **base);
int pv_forward_map_lane(struct guest *g, const struct pv_frames *f, unsigned lane, const uint64_t *pfns, size_t n,
			int *errs, void **base);
int pv_forward_held(struct guest *g, uint64_t *pages);
int pv_forward_host_free(struct guest *g, uint64_t *pages);
int pv_forward_guard_start(struct guest *g);
int pv_forward_dirty_start(struct guest *g, uint64_t frames);
int pv_forward_dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty);
int pv_forward_dirty_peek(struct guest *g, uint64_t *dirty);
int pv_forward_dirty_stop(struct guest *g);
int pv_forward_throttle(struct guest *g, unsigned percent);
int pv_forward_tsc_get(struct guest *g, struct guest_tsc *out);
int pv_forward_tsc_set(struct guest *g, const struct guest_tsc *tsc);
int pv_forward_policy_get(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs);
int pv_forward_policy_set(struct guest *g, const struct guest_blob *cpuid,
			  const struct guest_blob *msrs, char *why, size_t size);

/* -EOPNOTSUPP */
int pv_no_types(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types);
int pv_no_frames(struct guest *g, const uint64_t *gfns, size_t n);
int pv_no_param_get(struct guest *g, uint32_t index, uint64_t *value);
int pv_no_param_set(struct guest *g, uint32_t index, uint64_t value);
int pv_no_context_get(struct guest *g, struct guest_blob *out);
int pv_no_context_set(struct guest *g, const struct guest_blob *context);

/* -ENOMEM, so that memory comes in single pages: a PV guest gains nothing from large ones. */
int pv_no_piece(struct guest *g, uint64_t gfn, unsigned order);

#endif
