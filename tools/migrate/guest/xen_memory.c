// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>
#include <unistd.h>

#include "guest/extents.h"
#include "guest/xen_guest.h"

/* Types come in the top bits of a 32-bit word. */
#define TYPE_SHIFT XEN_DOMCTL_PFINFO_LTAB_SHIFT

/* How long a second migration of a domain waits for the first to end. */
#define GUARD_SECONDS 10

/* How often the guard looks whether the pause is over before it switches log-dirty off all the same. */
#define PAUSE_LOOKS   40
#define PAUSE_LOOK_US 50000

/* Exported by libxenctrl for libxenguest; no header declares it. */
int xc_get_pfn_type_batch(xc_interface *xch, uint32_t dom, unsigned int num, xen_pfn_t *arr);

_Static_assert(sizeof(xen_pfn_t) == sizeof(uint64_t), "64-bit only");

int xen_types(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types)
{
	xen_pfn_t words[GUEST_BATCH];

	if (n > GUEST_BATCH)
		return -E2BIG;
	memcpy(words, gfns, n * sizeof(*words));
	if (xc_get_pfn_type_batch(xen_guest(g)->xch, g->domid, (unsigned)n, words) < 0)
		return xen_error();
	for (size_t i = 0; i < n; i++)
		types[i] = (uint8_t)((words[i] >> TYPE_SHIFT) & 0xf);
	return 0;
}

int xen_map(struct guest *g, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	struct xen_guest *x = xen_guest(g);
	int rc = xcbatch_window_map(x->window, 0, gfns, n, errs);

	*base = xcbatch_window_addr(x->window);
	return rc == -ENXIO ? 0 : rc;
}

/* A lane belongs to one thread, so its window needs no lock. */
int xen_map_lane(struct guest *g, unsigned lane, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	struct xen_guest *x = xen_guest(g);
	int rc = 0;

	if (lane >= GUEST_LANES)
		return -EINVAL;
	if (!x->lanes[lane])
		rc = xcbatch_window_create(x->xb, g->domid, GUEST_BATCH, XCBATCH_READ, &x->lanes[lane]);
	if (rc)
		return rc;
	rc = xcbatch_window_map(x->lanes[lane], 0, gfns, n, errs);
	*base = xcbatch_window_addr(x->lanes[lane]);
	return rc == -ENXIO ? 0 : rc;
}

static int populate_singly(struct guest *g, const uint64_t *gfns, size_t n)
{
	xen_pfn_t frames[GUEST_BATCH];

	memcpy(frames, gfns, n * sizeof(*frames));
	/* EBUSY is libxenctrl's word for fewer extents than asked for. */
	if (xc_domain_populate_physmap_exact(xen_guest(g)->xch, g->domid, n, 0, 0, frames))
		return errno == EBUSY ? -ENOMEM : xen_error();
	return 0;
}

/* Pieces of 2 MiB as long as Xen has some: quicker to give, and the guest runs faster on them. */
static int populate_large(struct guest *g, const uint64_t *gfns, size_t n)
{
	xen_pfn_t heads[GUEST_BATCH / EXTENT_FRAMES];
	int pieces = 0, got;

	for (size_t i = 0; i < n; i += EXTENT_FRAMES)
		heads[pieces++] = gfns[i];
	got = xc_domain_populate_physmap(xen_guest(g)->xch, g->domid, (unsigned long)pieces,
					 EXTENT_ORDER, 0, heads);
	for (int i = got < 0 ? 0 : got; i < pieces; i++) {
		int rc = populate_singly(g, gfns + (size_t)i * EXTENT_FRAMES, EXTENT_FRAMES);

		if (rc)
			return rc;
	}
	return 0;
}

/* Memory came in the list's order up to where it failed; Xen stops at the first frame that has none. */
static void take_back(struct guest *g, const uint64_t *gfns, size_t n)
{
	xen_pfn_t frames[GUEST_BATCH];

	memcpy(frames, gfns, n * sizeof(*frames));
	xc_domain_decrease_reservation(xen_guest(g)->xch, g->domid, n, 0, frames);
}

int xen_populate(struct guest *g, const uint64_t *gfns, size_t n)
{
	int rc = 0;

	if (n > GUEST_BATCH)
		return -E2BIG;
	for (size_t at = 0, some; !rc && at < n; at += some) {
		bool large;

		some = extents_next(gfns + at, n - at, &large);
		rc = large ? populate_large(g, gfns + at, some) : populate_singly(g, gfns + at, some);
	}
	if (rc)
		take_back(g, gfns, n);
	return rc;
}

int xen_populate_piece(struct guest *g, uint64_t gfn, unsigned order)
{
	xen_pfn_t frame = gfn;

	if (xc_domain_populate_physmap_exact(xen_guest(g)->xch, g->domid, 1, order, 0, &frame))
		return errno == EBUSY ? -ENOMEM : xen_error();
	return 0;
}

int xen_unmap(struct guest *g)
{
	struct xen_guest *x = xen_guest(g);
	int rc = xcbatch_window_clear(x->window, 0, GUEST_BATCH);

	for (unsigned i = 0; !rc && i < GUEST_LANES; i++)
		if (x->lanes[i])
			rc = xcbatch_window_clear(x->lanes[i], 0, GUEST_BATCH);
	return rc;
}

int xen_depopulate(struct guest *g, const uint64_t *gfns, size_t n)
{
	xen_pfn_t frames[GUEST_BATCH];
	int rc;

	if (n > GUEST_BATCH)
		return -E2BIG;
	/* A page that is still mapped stays, and counts as the guest's, until it isn't. */
	rc = xen_unmap(g);
	if (rc)
		return rc;
	memcpy(frames, gfns, n * sizeof(*frames));
	if (xc_domain_decrease_reservation_exact(xen_guest(g)->xch, g->domid, n, 0, frames))
		return xen_error();
	return 0;
}

int xen_held(struct guest *g, uint64_t *pages)
{
	xc_domaininfo_t dom;
	int found = xc_domain_getinfolist(xen_guest(g)->xch, g->domid, 1, &dom);

	if (found < 0)
		return xen_error();
	if (!found || dom.domain != g->domid)
		return -ESRCH;
	*pages = dom.tot_pages;
	return 0;
}

int xen_host_free(struct guest *g, uint64_t *pages)
{
	xc_physinfo_t host;

	if (xc_physinfo(xen_guest(g)->xch, &host))
		return xen_error();
	*pages = host.free_pages;
	return 0;
}

/*
 * Switching off takes Xen a while, in which nothing else runs on that processor:
 * not while the guest stands still and its other half waits for the same processor.
 */
static void after_the_pause(xc_interface *xch, uint32_t domid)
{
	xc_dominfo_t dom;

	for (unsigned i = 0; i < PAUSE_LOOKS; i++) {
		if (xc_domain_getinfo(xch, domid, 1, &dom) != 1 || dom.domid != domid || dom.dying ||
		    !dom.shutdown)
			return;
		usleep(PAUSE_LOOK_US);
	}
}

/* In the guard's process: our own is gone, or in a hurry. */
static void undo(uint32_t domid, enum guard_why why, void *throttle)
{
	xc_interface *xch;

	/* Whoever asked has no processor to spare at this moment. */
	if (why == GUARD_ASKED)
		usleep(PAUSE_LOOK_US);
	xch = xc_interface_open(NULL, NULL, 0);
	if (!xch)
		return;
	if (why == GUARD_ASKED)
		after_the_pause(xch, domid);
	xen_throttle_undo(throttle, xch, domid);
	xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_OFF, NULL, 0);
	xc_interface_close(xch);
}

static void guard_stop(struct xen_guest *x)
{
	guard_end(&x->guard);
	xen_throttle_free(x->throttle);
	x->throttle = NULL;
}

int xen_guard_start(struct guest *g)
{
	struct xen_guest *x = xen_guest(g);
	int rc;

	x->throttle = xen_throttle_new();
	if (!x->throttle)
		return -ENOMEM;
	rc = guard_start(&x->guard, GUARD_FILE, g->domid, GUARD_SECONDS, undo, x->throttle);
	if (rc)
		guard_stop(x);
	/* The library's EBUSY is Xen's refusal. */
	return rc == -EBUSY ? -EALREADY : rc;
}

int xen_dirty_start(struct guest *g, uint64_t frames)
{
	struct xen_guest *x = xen_guest(g);
	int rc = xen_guard_start(g);

	if (rc)
		return rc;
	/* Whatever had it on is gone (a killed migration) or can do without (video memory). */
	rc = xcbatch_dirty_takeover(g->domid, frames, &x->dirty);
	if (rc)
		guard_stop(x);
	return rc;
}

int xen_dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty)
{
	struct xcbatch_dirty *d = xen_guest(g)->dirty;

	return last ? xcbatch_dirty_collect_last(d, map, dirty) : xcbatch_dirty_collect(d, map, dirty);
}

int xen_dirty_peek(struct guest *g, uint64_t *dirty)
{
	return xcbatch_dirty_peek(xen_guest(g)->dirty, dirty);
}

int xen_dirty_stop(struct guest *g)
{
	struct xen_guest *x = xen_guest(g);
	int rc = xen_throttle_undo(x->throttle, x->xch, g->domid);
	int off = xcbatch_dirty_stop(x->dirty);

	x->dirty = NULL;
	guard_stop(x);
	return rc ? rc : off;
}

int xen_dirty_stop_later(struct guest *g)
{
	struct xen_guest *x = xen_guest(g);
	int rc = guard_hand_over(&x->guard);

	if (rc)
		return rc;
	xcbatch_dirty_leave_on(x->dirty);
	x->dirty = NULL;
	xen_throttle_free(x->throttle);
	x->throttle = NULL;
	return 0;
}
