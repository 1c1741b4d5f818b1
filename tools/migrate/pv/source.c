// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pv/source.h"

#include <errno.h>
#include <stdlib.h>

#include "guest/failure.h"
#include "stream/wire.h"

static struct pv_source *source(struct guest *g)
{
	return (struct pv_source *)g;	/* the guest is the first member */
}

static void source_close(struct guest *g)
{
	pv_source_close(source(g));
}

static int source_info(struct guest *g, struct guest_info *out)
{
	struct pv_source *s = source(g);
	int rc = s->around.raw->ops->info(s->around.raw, out);

	/* Xen's figure is what the guest may have one day. */
	if (!rc)
		out->frames = s->p2m.frames.pfns;
	return rc;
}

static int source_types(struct guest *g, const uint64_t *pfns, size_t n, uint8_t *types)
{
	struct pv_source *s = source(g);
	uint64_t mfns[GUEST_BATCH];
	uint8_t found[GUEST_BATCH];
	size_t there = 0;
	int rc;

	if (n > GUEST_BATCH)
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		uint64_t mfn = pv_mfn(&s->p2m.frames, pfns[i]);

		types[i] = mfn == PV_NO_FRAME ? XF_PAGE_XTAB : XF_PAGE_NOTAB;
		if (mfn != PV_NO_FRAME)
			mfns[there++] = mfn;
	}
	rc = there ? s->around.raw->ops->types(s->around.raw, mfns, there, found) : 0;
	for (size_t i = 0, at = 0; !rc && i < n; i++)
		if (types[i] == XF_PAGE_NOTAB)
			types[i] = found[at++];
	return rc;
}

static int source_map(struct guest *g, const uint64_t *pfns, size_t n, int *errs, void **base)
{
	return pv_forward_map(g, &source(g)->p2m.frames, pfns, n, errs, base);
}

static int source_map_lane(struct guest *g, unsigned lane, const uint64_t *pfns, size_t n, int *errs, void **base)
{
	return pv_forward_map_lane(g, &source(g)->p2m.frames, lane, pfns, n, errs, base);
}

/*
 * While the guest runs an entry may be half changed, or the page have become
 * something else; even a large page is then no proof of anything.
 */
static int source_normalise(struct guest *g, uint8_t type, const void *page, void *copy)
{
	struct pv_bad_entry bad;

	return pv_table_normalise(&source(g)->p2m.frames, type, page, copy, &bad) ? -EAGAIN : 0;
}

static int source_grants_seed(struct guest *g, const struct guest_seed *seed)
{
	(void)g, (void)seed;
	return -EOPNOTSUPP;
}

static const struct guest_ops source_ops = {
	.close = source_close,
	.info = source_info,
	.types = source_types,
	.map = source_map,
	.map_lane = source_map_lane,
	.normalise = source_normalise,
	.populate = pv_no_frames,
	.populate_piece = pv_no_piece,
	.depopulate = pv_no_frames,
	.held = pv_forward_held,
	.host_free = pv_forward_host_free,
	.guard_start = pv_forward_guard_start,
	.dirty_start = pv_forward_dirty_start,
	.dirty_collect = pv_forward_dirty_collect,
	.dirty_peek = pv_forward_dirty_peek,
	.dirty_stop = pv_forward_dirty_stop,
	.throttle = pv_forward_throttle,
	.param_get = pv_no_param_get,
	.param_set = pv_no_param_set,
	.tsc_get = pv_forward_tsc_get,
	.tsc_set = pv_forward_tsc_set,
	.context_get = pv_no_context_get,
	.context_set = pv_no_context_set,
	.policy_get = pv_forward_policy_get,
	.policy_set = pv_forward_policy_set,
	.grants_seed = source_grants_seed,
};

static int check_width(const struct pv_source *s, struct xf_error *err)
{
	if (s->info.width == 8)
		return 0;
	return xf_error_set(err, -EOPNOTSUPP, "Domain %u is a PV guest of %u bits, expected 64; have Xen's"
			    " own engine do it with XENFERRY_ENGINE=stock.", s->around.base.domid,
			    s->info.width * 8);
}

int pv_source_open(struct guest *raw, struct pv_source **out, struct xf_error *err)
{
	struct pv_source *s;
	int rc;

	if (!raw->ops->pv)
		return pv_unknown(raw, err);
	s = calloc(1, sizeof(*s));
	if (!s)
		return failure(err, -ENOMEM, raw, "Preparing the save");
	s->around = (struct pv_around) { { &source_ops, raw->domid }, raw };
	rc = raw->ops->pv->info(raw, &s->info);
	if (rc)
		failure(err, rc, raw, "Looking at the PV state");
	else
		rc = check_width(s, err);
	if (!rc)
		rc = pv_p2m_open(&s->p2m, raw, s->info.shared_info_mfn, err);
	if (rc) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void pv_source_close(struct pv_source *s)
{
	if (!s)
		return;
	pv_p2m_close(&s->p2m);
	free(s);
}

int pv_source_look(struct pv_source *s, bool last, struct xf_error *err)
{
	bool moved;
	int rc = pv_p2m_look(&s->p2m, last, &moved, err);

	s->moved = s->moved || moved;
	return rc;
}
