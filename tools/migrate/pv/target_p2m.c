// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "guest/failure.h"
#include "pv/target.h"
#include "stream/wire.h"

static int check(const struct pv_target *t, const uint64_t *pfns, size_t n, struct xf_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *found = pfns[i] == PV_NO_FRAME ? "not in the stream" :
				    pv_mfn(&t->frames, pfns[i]) == PV_NO_FRAME ? "a pfn without memory" :
				    t->types[pfns[i]] != XF_PAGE_NOTAB ? "a page table" : NULL;

		if (found)
			return xf_error_set(err, -ERANGE, "Page %zu of the P2M of domain %u is %s (pfn 0x%"
					    PRIx64 "), expected a page of the guest's memory; save or send"
					    " the guest again.", i, t->around.base.domid, found, pfns[i]);
	}
	return 0;
}

static void write_page(const struct pv_target *t, uint64_t first, uint64_t *page)
{
	for (uint64_t i = 0; i < PV_ENTRIES; i++)
		page[i] = pv_mfn(&t->frames, first + i);
}

int pv_target_write_p2m(struct pv_target *t, const uint64_t *pfns, size_t n, struct xf_error *err)
{
	struct guest *g = pv_target_guest(t);
	int errs[GUEST_BATCH];
	void *base;
	int rc = check(t, pfns, n, err);

	if (rc)
		return rc;
	for (size_t at = 0; at < n; at += GUEST_BATCH) {
		size_t some = n - at < GUEST_BATCH ? n - at : GUEST_BATCH;

		rc = g->ops->map(g, pfns + at, some, errs, &base);
		for (size_t i = 0; !rc && i < some; i++)
			rc = errs[i];
		if (rc)
			return failure(err, rc, g, "Mapping the P2M");
		for (size_t i = 0; i < some; i++)
			write_page(t, (at + i) * PV_ENTRIES, (uint64_t *)((char *)base + i * GUEST_PAGE_SIZE));
	}
	return 0;
}
