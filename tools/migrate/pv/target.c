// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pv/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest/failure.h"
#include "stream/wire.h"

static struct pv_target *target(struct guest *g)
{
	return (struct pv_target *)g;	/* the guest is the first member */
}

static void target_close(struct guest *g)
{
	pv_target_close(target(g));
}

static int target_info(struct guest *g, struct guest_info *out)
{
	return pv_raw(g)->ops->info(pv_raw(g), out);
}

static int target_map(struct guest *g, const uint64_t *pfns, size_t n, int *errs, void **base)
{
	return pv_forward_map(g, &target(g)->frames, pfns, n, errs, base);
}

static int target_map_lane(struct guest *g, unsigned lane, const uint64_t *pfns, size_t n, int *errs, void **base)
{
	return pv_forward_map_lane(g, &target(g)->frames, lane, pfns, n, errs, base);
}

static int target_populate(struct guest *g, const uint64_t *pfns, size_t n)
{
	struct pv_target *t = target(g);
	uint64_t mfns[GUEST_BATCH];
	int rc;

	if (n > GUEST_BATCH)
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		if (pfns[i] >= t->frames.pfns)
			return -ERANGE;
	rc = pv_raw(g)->ops->pv->populate(pv_raw(g), pfns, n, mfns);
	for (size_t i = 0; !rc && i < n; i++) {
		t->p2m[pfns[i]] = mfns[i];
		t->types[pfns[i]] = XF_PAGE_NOTAB;
	}
	return rc;
}

static int target_depopulate(struct guest *g, const uint64_t *pfns, size_t n)
{
	struct pv_target *t = target(g);
	uint64_t mfns[GUEST_BATCH] = { PV_NO_FRAME };
	int rc;

	if (n > GUEST_BATCH)
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		mfns[i] = pv_mfn(&t->frames, pfns[i]);
		if (mfns[i] == PV_NO_FRAME)
			return -ERANGE;
	}
	rc = pv_raw(g)->ops->depopulate(pv_raw(g), mfns, n);
	for (size_t i = 0; !rc && i < n; i++) {
		t->p2m[pfns[i]] = PV_NO_FRAME;
		t->types[pfns[i]] = XF_PAGE_XTAB;
	}
	return rc;
}

static int target_grants_seed(struct guest *g, const struct guest_seed *seed)
{
	return pv_raw(g)->ops->pv->grants_seed(pv_raw(g), seed);
}

static const struct guest_ops target_ops = {
	.close = target_close,
	.info = target_info,
	.types = pv_no_types,
	.map = target_map,
	.map_lane = target_map_lane,
	.normalise = NULL,		/* tables come as they are to lie here */
	.populate = target_populate,
	.populate_piece = pv_no_piece,
	.depopulate = target_depopulate,
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
	.grants_seed = target_grants_seed,
};

int pv_target_open(struct guest *raw, struct pv_target **out, struct xf_error *err)
{
	struct pv_target *t;
	int rc;

	if (!raw->ops->pv)
		return pv_unknown(raw, err);
	t = calloc(1, sizeof(*t));
	if (!t)
		return failure(err, -ENOMEM, raw, "Preparing the restore");
	t->around = (struct pv_around) { { &target_ops, raw->domid }, raw };
	rc = raw->ops->pv->info(raw, &t->info);
	if (rc)
		failure(err, rc, raw, "Looking at the PV state");
	else
		rc = raw->ops->pv->m2p(raw, &t->frames.m2p, &t->frames.mfns);
	if (rc) {
		if (!err->code)
			failure(err, rc, raw, "Mapping Xen's M2P");
		free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void pv_target_close(struct pv_target *t)
{
	if (!t)
		return;
	free(t->types);
	free(t->p2m);
	free(t);
}

int pv_target_cover(struct pv_target *t, uint64_t pfns)
{
	uint64_t had = t->frames.pfns;
	uint64_t *p2m;
	uint8_t *types;

	if (pfns <= had)
		return 0;
	p2m = reallocarray(t->p2m, pfns, sizeof(*p2m));
	if (p2m)
		t->p2m = p2m;
	types = reallocarray(t->types, pfns, sizeof(*types));
	if (types)
		t->types = types;
	if (!p2m || !types)
		return -ENOMEM;
	memset(p2m + had, 0xff, (pfns - had) * sizeof(*p2m));
	memset(types + had, XF_PAGE_XTAB, pfns - had);
	t->frames.p2m = p2m;
	t->frames.pfns = pfns;
	return 0;
}

void pv_target_note(struct pv_target *t, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pfn = xf_word_pfn(words[i]);
		unsigned type = xf_word_type(words[i]);

		if (pfn < t->frames.pfns && xf_page_type_populates(type))
			t->types[pfn] = type == XF_PAGE_XALLOC ? XF_PAGE_NOTAB : (uint8_t)type;
	}
}
