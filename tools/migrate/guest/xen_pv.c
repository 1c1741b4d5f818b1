// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/xen_guest.h"
#include "stream/wire.h"

#include <xenguest.h>	/* needs xenctrl.h before it */

/* Xen gives its M2P in pieces of so many bytes. */
#define M2P_PIECE (UINT64_C(1) << 21)

static int pv_info(struct guest *g, struct guest_pv_info *out)
{
	xc_interface *xch = xen_guest(g)->xch;
	xc_dominfo_t dom;
	int found = xc_domain_getinfo(xch, g->domid, 1, &dom);

	if (found < 0)
		return xen_error();
	if (found == 0 || dom.domid != g->domid)
		return -ESRCH;
	if (xc_domain_get_guest_width(xch, g->domid, &out->width))
		return xen_error();
	out->vcpus = dom.max_vcpu_id + 1;
	out->shared_info_mfn = dom.shared_info_frame;
	return 0;
}

/* ---- mappings ----------------------------------------------------------- */

static int pv_m2p(struct guest *g, const uint64_t **m2p, uint64_t *frames)
{
	struct xen_guest *x = xen_guest(g);
	unsigned long last;

	if (!x->m2p) {
		if (xc_maximum_ram_page(x->xch, &last) < 0)
			return xen_error();
		x->m2p = xc_map_m2p(x->xch, last, PROT_READ, NULL);
		if (!x->m2p)
			return xen_error();
		/* The call rounds up what lies below the last frame: its own entry is mapped but for one case. */
		x->m2p_bytes = (last * sizeof(*x->m2p) + M2P_PIECE - 1) / M2P_PIECE * M2P_PIECE;
		x->m2p_frames = last + 1;
		if (x->m2p_frames > x->m2p_bytes / sizeof(*x->m2p))
			x->m2p_frames = x->m2p_bytes / sizeof(*x->m2p);
	}
	*m2p = x->m2p;
	*frames = x->m2p_frames;
	return 0;
}

static int pv_view(struct guest *g, const uint64_t *mfns, size_t n, bool writable, void **base)
{
	struct xen_guest *x = xen_guest(g);
	struct xen_view *v = calloc(1, sizeof(*v));
	int *errs = calloc(n, sizeof(*errs));
	int rc = v && errs ? xcbatch_window_create(x->xb, g->domid, n, writable ? XCBATCH_READ | XCBATCH_WRITE :
						   XCBATCH_READ, &v->window) : -ENOMEM;

	if (!rc) {
		rc = xcbatch_window_map(v->window, 0, mfns, n, errs);
		for (size_t i = 0; rc == -ENXIO && i < n; i++)
			rc = errs[i] ? errs[i] : rc;
		if (rc)
			xcbatch_window_destroy(v->window);
	}
	free(errs);
	if (rc) {
		free(v);
		return rc;
	}
	v->next = x->views;
	x->views = v;
	*base = xcbatch_window_addr(v->window);
	return 0;
}

static void pv_unview(struct guest *g, void *base, size_t n)
{
	struct xen_view **v = &xen_guest(g)->views, *gone;

	(void)n;
	while (*v && xcbatch_window_addr((*v)->window) != base)
		v = &(*v)->next;
	gone = *v;
	if (!gone)
		return;
	*v = gone->next;
	xcbatch_window_destroy(gone->window);
	free(gone);
}

void xen_pv_close(struct xen_guest *x)
{
	while (x->views)
		pv_unview(&x->base, xcbatch_window_addr(x->views->window), 0);
	if (x->m2p)
		munmap(x->m2p, x->m2p_bytes);
}

/* ---- memory ------------------------------------------------------------- */

static int pv_populate(struct guest *g, const uint64_t *pfns, size_t n, uint64_t *mfns)
{
	struct xen_guest *x = xen_guest(g);
	xen_pfn_t frames[GUEST_BATCH];
	int got;

	if (n > GUEST_BATCH)
		return -E2BIG;
	/* In go pfns, out come the frames of those that got one. */
	memcpy(frames, pfns, n * sizeof(*frames));
	got = xc_domain_populate_physmap(x->xch, g->domid, n, 0, 0, frames);
	if (got < 0)
		return xen_error();
	if ((size_t)got < n) {
		if (got)
			xc_domain_decrease_reservation(x->xch, g->domid, (unsigned long)got, 0, frames);
		return -ENOMEM;
	}
	memcpy(mfns, frames, n * sizeof(*mfns));
	return 0;
}

static int pv_pin(struct guest *g, const uint64_t *mfns, const uint8_t *types, size_t n)
{
	static const unsigned commands[] = {
		[XF_PAGE_L1TAB] = MMUEXT_PIN_L1_TABLE, [XF_PAGE_L2TAB] = MMUEXT_PIN_L2_TABLE,
		[XF_PAGE_L3TAB] = MMUEXT_PIN_L3_TABLE, [XF_PAGE_L4TAB] = MMUEXT_PIN_L4_TABLE,
	};
	struct mmuext_op ops[GUEST_BATCH];

	if (n > GUEST_BATCH)
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		if (types[i] < XF_PAGE_L1TAB || types[i] > XF_PAGE_L4TAB)
			return -EINVAL;
		ops[i] = (struct mmuext_op) { .cmd = commands[types[i]], .arg1.mfn = mfns[i] };
	}
	return xc_mmuext_op(xen_guest(g)->xch, ops, (unsigned)n, g->domid) ? xen_error() : 0;
}

static int pv_grants_seed(struct guest *g, const struct guest_seed *s)
{
	if (xc_dom_gnttab_seed(xen_guest(g)->xch, g->domid, false, s->console_gfn, s->store_gfn,
			       s->console_domid, s->store_domid))
		return xen_error();
	return 0;
}

const struct guest_pv_ops xen_pv_ops = {
	.info = pv_info,
	.m2p = pv_m2p,
	.view = pv_view,
	.unview = pv_unview,
	.unmap = xen_unmap,
	.populate = pv_populate,
	.pin = pv_pin,
	.vcpu_online = xen_vcpu_online,
	.vcpu_get = xen_vcpu_get,
	.vcpu_set = xen_vcpu_set,
	.grants_seed = pv_grants_seed,
};
