// SPDX-License-Identifier: GPL-2.0-only
/* PVH: bare changes of our own memory map, behind which frames are put. */
#include <linux/mm.h>
#include <linux/slab.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include <xen/interface/memory.h>
#include <xen/page.h>
#include <xen/xen.h>

#include "floor.h"

#define CALLS_MAX 512U

struct pvh_round {
	unsigned int nr;
	domid_t domid;
	struct page **pages;
	xen_pfn_t *gpfns;
	int *errs;
	struct xen_remove_from_physmap *removals;
	struct multicall_entry *calls;
};

static u64 add(struct pvh_round *r, u64 *frames, u32 *failed)
{
	struct xen_add_to_physmap_range range = {
		.domid = DOMID_SELF,
		.space = XENMAPSPACE_gmfn_foreign,
		.size = r->nr,
		.foreign_domid = r->domid,
	};
	unsigned int i;
	u64 begin, ticks;
	int rc;

	set_xen_guest_handle(range.idxs, (xen_ulong_t *)frames);
	set_xen_guest_handle(range.gpfns, r->gpfns);
	set_xen_guest_handle(range.errs, r->errs);
	begin = floor_clock();
	rc = HYPERVISOR_memory_op(XENMEM_add_to_physmap_range, &range);
	ticks = floor_clock() - begin;
	for (i = 0; i < r->nr; i++)
		*failed += rc || r->errs[i];
	return ticks;
}

static u64 remove_singly(struct pvh_round *r)
{
	u64 begin = floor_clock();
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		HYPERVISOR_memory_op(XENMEM_remove_from_physmap, &r->removals[i]);
	return floor_clock() - begin;
}

static u64 remove_by_multicall(struct pvh_round *r)
{
	u64 begin = floor_clock();
	unsigned int at;

	for (at = 0; at < r->nr; at += CALLS_MAX)
		HYPERVISOR_multicall(r->calls + at, min(r->nr - at, CALLS_MAX));
	return floor_clock() - begin;
}

static int prepare(struct pvh_round *r)
{
	unsigned int i;

	r->gpfns = kvmalloc_array(r->nr, sizeof(*r->gpfns), GFP_KERNEL);
	r->errs = kvmalloc_array(r->nr, sizeof(*r->errs), GFP_KERNEL);
	r->removals = kvcalloc(r->nr, sizeof(*r->removals), GFP_KERNEL);
	r->calls = kvcalloc(r->nr, sizeof(*r->calls), GFP_KERNEL);
	if (!r->gpfns || !r->errs || !r->removals || !r->calls)
		return -ENOMEM;
	for (i = 0; i < r->nr; i++) {
		r->gpfns[i] = page_to_pfn(r->pages[i]);
		r->removals[i].domid = DOMID_SELF;
		r->removals[i].gpfn = r->gpfns[i];
		r->calls[i].op = __HYPERVISOR_memory_op;
		r->calls[i].args[0] = XENMEM_remove_from_physmap;
		r->calls[i].args[1] = (unsigned long)&r->removals[i];
	}
	return 0;
}

static void measure(struct pvh_round *r, struct floor_round *round)
{
	struct xenferry_floor *ask = round->ask;
	u32 again = 0;

	ask->map = add(r, round->frames, &ask->failed);
	ask->entered = 1;
	ask->unmap = remove_singly(r);
	add(r, round->frames, &again);
	ask->unmap_multicall = remove_by_multicall(r);
	if (!round->others)
		return;
	add(r, round->frames, &again);
	ask->replace = remove_singly(r);
	ask->replace += add(r, round->others, &ask->failed);
	remove_singly(r);
}

int floor_pvh(struct floor_round *round)
{
	struct pvh_round r = { .nr = round->ask->num, .domid = round->ask->domid };
	int rc = -ENOMEM;

	r.pages = kvcalloc(r.nr, sizeof(*r.pages), GFP_KERNEL);
	if (!r.pages || xen_alloc_unpopulated_pages(r.nr, r.pages))
		goto free;
	rc = prepare(&r);
	if (!rc) {
		measure(&r, round);
		if (round->ask->failed >= r.nr)
			rc = -EIO;
	}
	xen_free_unpopulated_pages(r.nr, r.pages);
free:
	kvfree(r.pages);
	kvfree(r.gpfns);
	kvfree(r.errs);
	kvfree(r.removals);
	kvfree(r.calls);
	return rc;
}
