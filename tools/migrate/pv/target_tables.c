// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "guest/failure.h"
#include "pv/table.h"
#include "pv/target.h"
#include "stream/wire.h"

/* The next n at most that `wanted` says yes to, from *from on; *from is left behind the last. */
static size_t gather(const struct pv_target *t, bool (*wanted)(unsigned type), uint64_t *from, uint64_t *pfns)
{
	size_t n = 0;

	for (; *from < t->frames.pfns && n < GUEST_BATCH; ++*from)
		if (wanted(t->types[*from]))
			pfns[n++] = *from;
	return n;
}

static int bad_entry(const struct pv_target *t, uint64_t pfn, const struct pv_bad_entry *bad,
		     struct xf_error *err)
{
	return xf_error_set(err, -ERANGE, "Entry %u of the page table of level %u at pfn 0x%" PRIx64
			    " of domain %u is 0x%" PRIx64 ", expected a pfn that the stream gave memory;"
			    " save or send the guest again.", bad->index, pv_table_level(t->types[pfn]),
			    pfn, t->around.base.domid, bad->entry);
}

static int localise_some(struct pv_target *t, const uint64_t *pfns, size_t n, struct xf_error *err)
{
	struct guest *g = pv_target_guest(t);
	int errs[GUEST_BATCH];
	void *base;
	int rc = g->ops->map(g, pfns, n, errs, &base);

	for (size_t i = 0; !rc && i < n; i++)
		rc = errs[i];
	if (rc)
		return failure(err, rc, g, "Mapping page tables");
	for (size_t i = 0; i < n; i++) {
		struct pv_bad_entry bad;

		if (pv_table_localise(&t->frames, (uint64_t *)((char *)base + i * GUEST_PAGE_SIZE), &bad))
			return bad_entry(t, pfns[i], &bad, err);
	}
	return 0;
}

int pv_target_localise(struct pv_target *t, struct xf_error *err)
{
	uint64_t pfns[GUEST_BATCH], at = 0;
	int rc = 0;

	for (size_t n = gather(t, pv_is_table, &at, pfns); !rc && n; n = gather(t, pv_is_table, &at, pfns))
		rc = localise_some(t, pfns, n, err);
	return rc;
}

static bool is_pinned(unsigned type)
{
	return pv_is_table(type) && type & XF_PAGE_PINNED;
}

int pv_target_pin(struct pv_target *t, struct xf_error *err)
{
	struct guest *raw = t->around.raw;
	uint64_t pfns[GUEST_BATCH], at = 0;
	uint8_t types[GUEST_BATCH];
	int rc = raw->ops->pv->unmap(raw);

	if (rc)
		return failure(err, rc, raw, "Taking away what was mapped");
	for (size_t n = gather(t, is_pinned, &at, pfns); n; n = gather(t, is_pinned, &at, pfns)) {
		for (size_t i = 0; i < n; i++) {
			types[i] = (uint8_t)pv_table_level(t->types[pfns[i]]);
			pfns[i] = pv_mfn(&t->frames, pfns[i]);
		}
		rc = raw->ops->pv->pin(raw, pfns, types, n);
		if (rc)
			return xf_error_set(err, rc, "Xen refused page tables of domain %u (%s), expected"
					    " the tables of a guest that ran; save or send the guest again.", raw->domid, strerror(-rc));
	}
	return 0;
}
