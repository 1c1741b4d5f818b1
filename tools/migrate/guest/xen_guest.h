/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the Xen backend only. */
#ifndef XENFERRY_XEN_GUEST_H
#define XENFERRY_XEN_GUEST_H

#include <errno.h>
#include <xcbatch.h>
#include <xenctrl.h>

#include "guest/guard.h"
#include "guest/guest.h"

struct xen_view {
	struct xcbatch_window *window;
	struct xen_view *next;
};

struct xen_guest {
	struct guest base;
	xc_interface *xch;
	struct xcbatch *xb;
	struct xcbatch_window *window;
	struct xcbatch_window *lanes[GUEST_LANES];	/* NULL until first used */
	struct xen_view *views;		/* of a PV guest */
	uint64_t *m2p;			/* Xen's, mapped for a PV guest; else NULL */
	uint64_t m2p_frames;		/* entries */
	size_t m2p_bytes;		/* of the mapping */
	struct xcbatch_dirty *dirty;	/* NULL: log-dirty is not on by us */
	struct guard guard;		/* switches it off should we be killed */
	struct xen_throttle *throttle;	/* shared with the guard; NULL: never needed */
};

static inline struct xen_guest *xen_guest(struct guest *g)
{
	return (struct xen_guest *)g;	/* base is the first member */
}

/* libxenctrl says -1 and errno; a failure without an errno must not look like success. */
static inline int xen_error(void)
{
	return errno ? -errno : -EIO;
}

/* memory */
int xen_types(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types);
int xen_map(struct guest *g, const uint64_t *gfns, size_t n, int *errs, void **base);
int xen_map_lane(struct guest *g, unsigned lane, const uint64_t *gfns, size_t n, int *errs, void **base);
/* Nothing stays mapped by xen_map and xen_map_lane. */
int xen_unmap(struct guest *g);
int xen_populate(struct guest *g, const uint64_t *gfns, size_t n);
int xen_populate_piece(struct guest *g, uint64_t gfn, unsigned order);
int xen_depopulate(struct guest *g, const uint64_t *gfns, size_t n);
int xen_held(struct guest *g, uint64_t *pages);
int xen_host_free(struct guest *g, uint64_t *pages);
int xen_guard_start(struct guest *g);
int xen_dirty_start(struct guest *g, uint64_t frames);
int xen_dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty);
int xen_dirty_peek(struct guest *g, uint64_t *dirty);
int xen_dirty_stop(struct guest *g);
int xen_dirty_stop_later(struct guest *g);

/* PV guests */
extern const struct guest_pv_ops xen_pv_ops;
void xen_pv_close(struct xen_guest *x);
int  xen_vcpu_online(struct guest *g, unsigned vcpu, bool *online);
int  xen_vcpu_get(struct guest *g, unsigned vcpu, enum guest_vcpu_part part, struct guest_blob *out);
int  xen_vcpu_set(struct guest *g, unsigned vcpu, enum guest_vcpu_part part, const struct guest_blob *in);

/* throttle */

/* Memory that parent and guard share: what there is to undo. NULL: none to be had. */
struct xen_throttle *xen_throttle_new(void);
void xen_throttle_free(struct xen_throttle *t);
/* Gives the CPU time back if any was taken. Also for the guard, with a handle of its own. 0 or a negative errno. */
int xen_throttle_undo(struct xen_throttle *t, xc_interface *xch, uint32_t domid);
int xen_throttle(struct guest *g, unsigned percent);

/* state */
int xen_param_get(struct guest *g, uint32_t index, uint64_t *value);
int xen_param_set(struct guest *g, uint32_t index, uint64_t value);
int xen_tsc_get(struct guest *g, struct guest_tsc *out);
int xen_tsc_set(struct guest *g, const struct guest_tsc *tsc);
int xen_context_get(struct guest *g, struct guest_blob *out);
int xen_context_set(struct guest *g, const struct guest_blob *context);
int xen_policy_get(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs);
int xen_policy_set(struct guest *g, const struct guest_blob *cpuid,
		   const struct guest_blob *msrs, char *why, size_t size);
int xen_grants_seed(struct guest *g, const struct guest_seed *seed);

#endif
