// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pv/forward.h"

#include <errno.h>

int pv_unknown(const struct guest *raw, struct xf_error *err)
{
	return xf_error_set(err, -EOPNOTSUPP, "Domain %u is a PV guest, expected PVH or HVM; leave PV guests to"
			    " Xen's own engine.", raw->domid);
}

int pv_forward_map(struct guest *g, const struct pv_frames *f, const uint64_t *pfns, size_t n, int *errs, void **base)
{
	uint64_t mfns[GUEST_BATCH];

	if (n > GUEST_BATCH)
		return -E2BIG;
	pv_to_map(f, pfns, n, mfns);
	return pv_raw(g)->ops->map(pv_raw(g), mfns, n, errs, base);
}

int pv_forward_map_lane(struct guest *g, const struct pv_frames *f, unsigned lane, const uint64_t *pfns, size_t n,
			int *errs, void **base)
{
	uint64_t mfns[GUEST_BATCH];

	if (n > GUEST_BATCH)
		return -E2BIG;
	pv_to_map(f, pfns, n, mfns);
	return pv_raw(g)->ops->map_lane(pv_raw(g), lane, mfns, n, errs, base);
}

int pv_forward_held(struct guest *g, uint64_t *pages)
{
	return pv_raw(g)->ops->held(pv_raw(g), pages);
}

int pv_forward_host_free(struct guest *g, uint64_t *pages)
{
	return pv_raw(g)->ops->host_free(pv_raw(g), pages);
}

int pv_forward_guard_start(struct guest *g)
{
	return pv_raw(g)->ops->guard_start(pv_raw(g));
}

/* Xen logs a PV guest's pages by pfn, too. */
int pv_forward_dirty_start(struct guest *g, uint64_t frames)
{
	return pv_raw(g)->ops->dirty_start(pv_raw(g), frames);
}

int pv_forward_dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty)
{
	return pv_raw(g)->ops->dirty_collect(pv_raw(g), last, map, dirty);
}

int pv_forward_dirty_peek(struct guest *g, uint64_t *dirty)
{
	return pv_raw(g)->ops->dirty_peek(pv_raw(g), dirty);
}

int pv_forward_dirty_stop(struct guest *g)
{
	return pv_raw(g)->ops->dirty_stop(pv_raw(g));
}

int pv_forward_throttle(struct guest *g, unsigned percent)
{
	return pv_raw(g)->ops->throttle(pv_raw(g), percent);
}

int pv_forward_tsc_get(struct guest *g, struct guest_tsc *out)
{
	return pv_raw(g)->ops->tsc_get(pv_raw(g), out);
}

int pv_forward_tsc_set(struct guest *g, const struct guest_tsc *tsc)
{
	return pv_raw(g)->ops->tsc_set(pv_raw(g), tsc);
}

int pv_forward_policy_get(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs)
{
	return pv_raw(g)->ops->policy_get(pv_raw(g), cpuid, msrs);
}

int pv_forward_policy_set(struct guest *g, const struct guest_blob *cpuid,
			  const struct guest_blob *msrs, char *why, size_t size)
{
	return pv_raw(g)->ops->policy_set(pv_raw(g), cpuid, msrs, why, size);
}

int pv_no_types(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types)
{
	(void)g, (void)gfns, (void)n, (void)types;
	return -EOPNOTSUPP;
}

int pv_no_frames(struct guest *g, const uint64_t *gfns, size_t n)
{
	(void)g, (void)gfns, (void)n;
	return -EOPNOTSUPP;
}

int pv_no_piece(struct guest *g, uint64_t gfn, unsigned order)
{
	(void)g, (void)gfn, (void)order;
	return -ENOMEM;
}

int pv_no_param_get(struct guest *g, uint32_t index, uint64_t *value)
{
	(void)g, (void)index, (void)value;
	return -EOPNOTSUPP;
}

int pv_no_param_set(struct guest *g, uint32_t index, uint64_t value)
{
	(void)g, (void)index, (void)value;
	return -EOPNOTSUPP;
}

int pv_no_context_get(struct guest *g, struct guest_blob *out)
{
	(void)g, (void)out;
	return -EOPNOTSUPP;
}

int pv_no_context_set(struct guest *g, const struct guest_blob *context)
{
	(void)g, (void)context;
	return -EOPNOTSUPP;
}
