// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/xen.h"

#include <stdlib.h>

#include "guest/xen_guest.h"

static void xen_close(struct guest *g)
{
	struct xen_guest *x = xen_guest(g);

	xen_dirty_stop(g);
	xen_pv_close(x);
	for (unsigned i = 0; i < GUEST_LANES; i++)
		xcbatch_window_destroy(x->lanes[i]);
	xcbatch_window_destroy(x->window);
	xcbatch_close(x->xb);
	free(x);
}

static int xen_info(struct guest *g, struct guest_info *out)
{
	struct xen_guest *x = xen_guest(g);
	xc_dominfo_t dom;
	xen_pfn_t frames = 0;
	int version, found;

	found = xc_domain_getinfo(x->xch, g->domid, 1, &dom);
	if (found < 0)
		return xen_error();
	/* The call gives the next domain where there is none of this number. */
	if (found == 0 || dom.domid != g->domid)
		return -ESRCH;
	version = xc_version(x->xch, XENVER_version, NULL);
	/* A PV guest says itself how many it has, and before it runs, nothing. */
	if (version < 0 || (dom.hvm && xc_domain_nr_gpfns(x->xch, g->domid, &frames) < 0))
		return xen_error();
	*out = (struct guest_info) {
		.hvm = dom.hvm,
		.shut_down = dom.shutdown,
		.suspended = dom.shutdown && dom.shutdown_reason == SHUTDOWN_suspend,
		.reason = dom.shutdown_reason,
		.frames = frames,
		.max_pages = dom.max_memkb / (GUEST_PAGE_SIZE / 1024),
		.xen_major = (unsigned)version >> 16,
		.xen_minor = (unsigned)version & 0xffff,
	};
	return 0;
}

static const struct guest_ops xen_ops = {
	.close = xen_close,
	.info = xen_info,
	.types = xen_types,
	.map = xen_map,
	.map_lane = xen_map_lane,
	.populate = xen_populate,
	.populate_piece = xen_populate_piece,
	.depopulate = xen_depopulate,
	.held = xen_held,
	.host_free = xen_host_free,
	.guard_start = xen_guard_start,
	.dirty_start = xen_dirty_start,
	.dirty_collect = xen_dirty_collect,
	.dirty_peek = xen_dirty_peek,
	.dirty_stop = xen_dirty_stop,
	.dirty_stop_later = xen_dirty_stop_later,
	.throttle = xen_throttle,
	.param_get = xen_param_get,
	.param_set = xen_param_set,
	.tsc_get = xen_tsc_get,
	.tsc_set = xen_tsc_set,
	.context_get = xen_context_get,
	.context_set = xen_context_set,
	.policy_get = xen_policy_get,
	.policy_set = xen_policy_set,
	.grants_seed = xen_grants_seed,
	.pv = &xen_pv_ops,
};

int guest_xen_open(xc_interface *xch, uint32_t domid, enum guest_access access,
		   struct guest **out)
{
	int prot = access == GUEST_WRITE ? XCBATCH_READ | XCBATCH_WRITE : XCBATCH_READ;
	struct xen_guest *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return -ENOMEM;
	x->base.ops = &xen_ops;
	x->base.domid = domid;
	x->xch = xch;
	rc = xcbatch_open(&x->xb);
	if (!rc)
		rc = xcbatch_window_create(x->xb, domid, GUEST_BATCH, prot, &x->window);
	if (rc) {
		xcbatch_close(x->xb);
		free(x);
		return rc;
	}
	*out = &x->base;
	return 0;
}
