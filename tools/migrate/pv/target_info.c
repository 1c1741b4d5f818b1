// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "guest/failure.h"
#include "pv/target.h"
#include "stream/wire.h"

/*
 * Time is the new host's, and so are event channels: none is pending, all are masked until the guest
 * binds them anew. The guest says again where its P2M lies; until then nothing of the old host's.
 */
int pv_target_shared_info(struct pv_target *t, const shared_info_t *from, struct xf_error *err)
{
	struct guest *raw = t->around.raw;
	shared_info_t *to;
	void *base;
	int rc = raw->ops->pv->view(raw, &t->info.shared_info_mfn, 1, true, &base);

	if (rc)
		return failure(err, rc, raw, "Mapping the shared info page");
	to = base;
	memcpy(to->vcpu_info, from->vcpu_info, sizeof(to->vcpu_info));
	memcpy(&to->arch, &from->arch, sizeof(to->arch));
	to->arch.pfn_to_mfn_frame_list_list = 0;
	to->arch.p2m_cr3 = 0;
	memset(to->evtchn_pending, 0, sizeof(to->evtchn_pending));
	memset(to->evtchn_mask, 0xff, sizeof(to->evtchn_mask));
	for (size_t i = 0; i < XEN_LEGACY_MAX_VCPUS; i++)
		to->vcpu_info[i].evtchn_pending_sel = 0;
	raw->ops->pv->unview(raw, base, 1);
	return 0;
}

static int ring_mfn(const struct pv_target *t, const char *what, uint64_t pfn, uint64_t *mfn,
		    struct xf_error *err)
{
	*mfn = pv_mfn(&t->frames, pfn);
	if (*mfn != PV_NO_FRAME)
		return 0;
	return xf_error_set(err, -ERANGE, "The start info of domain %u has the %s page at pfn 0x%" PRIx64
			    ", expected a page with memory; save or send the guest again.",
			    t->around.base.domid, what, pfn);
}

int pv_target_start_info(struct pv_target *t, struct pv_start_info *s, struct xf_error *err)
{
	struct guest *g = pv_target_guest(t);
	start_info_t *info;
	void *base;
	int failed = 0;
	int rc = g->ops->map(g, &s->pfn, 1, &failed, &base);

	if (rc || failed)
		return failure(err, rc ? rc : failed, g, "Mapping the start info page");
	info = base;
	/* A suspended guest has put pfns there. */
	rc = ring_mfn(t, "store", info->store_mfn, &s->store_frame, err);
	if (!rc)
		rc = ring_mfn(t, "console", info->console.domU.mfn, &s->console_frame, err);
	if (rc)
		return rc;
	info->store_mfn = s->store_frame;
	info->store_evtchn = s->store_port;
	info->console.domU.mfn = s->console_frame;
	info->console.domU.evtchn = s->console_port;
	info->nr_pages = s->pages;
	info->shared_info = t->info.shared_info_mfn << XF_PAGE_SHIFT;
	info->flags = 0;
	return 0;
}
