// SPDX-License-Identifier: GPL-2.0-only
/*
 * Auto-translated Dom0 (PVH): a foreign frame is first put behind one of our
 * own page frame numbers, then that page is mapped.
 *
 * Frames are put there in ranges, a hypercall each. The hypervisor takes them
 * away one by one, and puts none over another: to make room it would give the
 * old one back as memory of ours, which it isn't (ENXIO). Neither is there a
 * call that takes several away; in a multicall each costs more than an exit of
 * its own does.
 *
 * The backing pages are the kernel's, which keeps those given back for the
 * next who asks: nothing is saved by keeping them here as well.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <asm/xen/hypercall.h>

#include <xen/balloon.h>
#include <xen/interface/memory.h>
#include <xen/page.h>
#include <xen/xen.h>
#include <xen/xenferry_compat.h>
#include <xen/xenferry_inject.h>

#include "counters.h"
#include "pv_table.h"
#include "remap.h"

struct page **remap_backing_alloc(unsigned long nr)
{
	struct page **backing;

	if (nr > INT_MAX / sizeof(*backing))
		return NULL;
	backing = may_lack(kvcalloc(nr, sizeof(*backing), GFP_KERNEL));
	if (!backing)
		return NULL;
	if (may_fail(-ENOMEM, xen_alloc_unpopulated_pages(nr, backing))) {
		kvfree(backing);
		return NULL;
	}
	return backing;
}

/*
 * Whether nothing is behind a page any more; that nothing was is no error. The
 * first removal of several is a place to fail for tests: it has been made then,
 * and is not believed.
 */
static bool remove_frame(struct page *page, unsigned long index)
{
	struct xen_remove_from_physmap removal = {
		.domid = DOMID_SELF,
		.gpfn = page_to_pfn(page),
	};
	int rc = HYPERVISOR_memory_op(XENMEM_remove_from_physmap, &removal);

	if (!index)
		rc = may_fail(-EINVAL, rc);
	if (index % PTRS_PER_PTE == PTRS_PER_PTE - 1)
		cond_resched();	/* many would keep the processor for long */
	return !rc || rc == -ENOENT;
}

/* Of a page that keeps its frame the next one put there says so, by its error. */
static void remove_frames(struct page **backing, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		remove_frame(backing[i], i);
	remap_count(clear_hypercalls, nr);
	remap_count(clear_entries, nr);
}

/* Another domain's memory must not get to whoever asks for a page next. */
void remap_backing_free(struct page **backing, unsigned long nr)
{
	unsigned long i, empty = 0;

	for (i = 0; i < nr; i++)
		if (remove_frame(backing[i], i))
			backing[empty++] = backing[i];
	remap_count(clear_hypercalls, nr);
	remap_count(clear_entries, nr);
	if (empty < nr)
		pr_err("%lu pages are lost: the hypervisor does not take away the frames behind them\n",
		       nr - empty);
	xen_free_unpopulated_pages(empty, backing);
	kvfree(backing);
}

/* Takes frames and mappings of a range away; the backing pages stay. */
void remap_auto_clear(struct vm_area_struct *vma, unsigned long addr,
		      unsigned long nr, struct page **backing)
{
	zap_vma_ptes(vma, addr, nr * PAGE_SIZE);
	remove_frames(backing, nr);
}

/*
 * Puts nr frames behind their backing pages. The hypervisor notes each frame's
 * error; where it refuses the call altogether, at whatever point, that is the
 * error of all.
 */
static int add_frames(struct remap_batch *batch, struct remap_request *r,
		       unsigned long at, unsigned long nr)
{
	struct xen_add_to_physmap_range range = {
		.domid = DOMID_SELF,
		.space = XENMAPSPACE_gmfn_foreign,
		.size = nr,
		.foreign_domid = r->domid,
	};
	unsigned long i;
	int rc;

	BUILD_BUG_ON(REMAP_BATCH_MAX > U16_MAX);
	BUILD_BUG_ON(sizeof(*r->frames) != sizeof(xen_ulong_t));
	for (i = 0; i < nr; i++)
		batch->gpfn[i] = page_to_pfn(r->backing[at + i]);
	set_xen_guest_handle(range.idxs, (xen_ulong_t *)r->frames + at);
	set_xen_guest_handle(range.gpfns, batch->gpfn);
	set_xen_guest_handle(range.errs, r->errors + at);
	rc = may_fail(-EINVAL, HYPERVISOR_memory_op(XENMEM_add_to_physmap_range,
						    &range));
	remap_count(map_hypercalls, 1);
	remap_count(map_entries, nr);
	if (rc) {
		remove_frames(r->backing + at, nr);
		for (i = 0; i < nr; i++)
			r->errors[at + i] = rc;
	}
	return rc;
}

struct backing_walk {
	struct vm_area_struct *vma;
	struct page **page;
	const s32 *error;	/* slots that have one stay empty; NULL: none has */
};

static int map_backing_page(pte_t *pte, unsigned long addr, void *data)
{
	struct backing_walk *walk = data;
	unsigned long pfn = page_to_pfn(*walk->page++);

	if (!walk->error || !*walk->error++)
		set_pte(pte, pte_mkspecial(pfn_pte(pfn, walk->vma->vm_page_prot)));
	return 0;
}

static int map_backing(struct backing_walk *walk, unsigned long addr,
		       unsigned long nr)
{
	return may_fail(-ENOMEM, apply_to_page_range(walk->vma->vm_mm, addr,
						     nr * PAGE_SIZE,
						     map_backing_page, walk));
}

/* One part of a request, of at most the size of the batch. */
static int map_part(struct remap_batch *batch, struct remap_request *r,
		    unsigned long at, unsigned long nr)
{
	struct backing_walk walk = {
		.vma = r->vma,
		.page = r->backing + at,
	};
	unsigned long i, failed = 0;
	int rc;

	/* For a frame of its own that it can't have, stock maps a page with nothing behind it. */
	if (add_frames(batch, r, at, nr) || r->replace)
		walk.error = r->errors + at;
	rc = map_backing(&walk, r->addr + at * PAGE_SIZE, nr);
	if (rc)
		remap_auto_clear(r->vma, r->addr + at * PAGE_SIZE, nr,
				 r->backing + at);
	for (i = at; i < at + nr; i++) {
		if (rc)
			r->errors[i] = rc;
		failed += r->errors[i] != 0;
	}
	remap_count(failed_entries, failed);
	r->failed += failed;
	return rc;
}

/* As remap_pv(). */
int remap_auto(struct remap_batch *batch, struct remap_request *r)
{
	unsigned long at, nr;
	int rc;

	/* The hypervisor puts no frame over another one. */
	if (r->replace && !remap_range_is_empty(r->vma->vm_mm, r->addr, r->nr))
		remap_auto_clear(r->vma, r->addr, r->nr, r->backing);

	for (at = 0; at < r->nr; at += nr) {
		nr = READ_ONCE(remap_per_frame) ? 1 :
		     min_t(unsigned long, r->nr - at, batch->room);
		rc = map_part(batch, r, at, nr);
		cond_resched();
		if (rc)
			return remap_fail(r, at + nr, rc);
	}
	return 0;
}

/* Maps backing pages behind which the hypervisor has put frames already. */
int remap_backing(struct vm_area_struct *vma, unsigned long addr,
		  unsigned long nr, struct page **backing)
{
	struct backing_walk walk = { .vma = vma, .page = backing };

	return map_backing(&walk, addr, nr);
}
