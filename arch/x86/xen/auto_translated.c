// SPDX-License-Identifier: GPL-2.0-only
/*
 * Auto-translated Dom0 (PVH): a foreign frame is first put behind one of our
 * own page frame numbers, then that page is mapped. Both steps, and taking a
 * frame away again, are the kernel's own helpers.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <xen/balloon.h>
#include <xen/page.h>
#include <xen/xen-ops.h>
#include <xen/xen.h>

#include "../../../drivers/privcmd/compat.h"
#include "counters.h"
#include "inject.h"
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

/* A hypercall a frame, of which many would keep the processor for long. */
static void remove_frames(struct vm_area_struct *vma, unsigned long nr,
			  struct page **backing)
{
	unsigned long at;

	for (at = 0; at < nr; at += PTRS_PER_PTE) {
		xen_xlate_unmap_gfn_range(vma, min_t(unsigned long, nr - at,
						     PTRS_PER_PTE), backing + at);
		cond_resched();
	}
	remap_count(clear_hypercalls, nr);
	remap_count(clear_entries, nr);
}

void remap_backing_free(struct page **backing, unsigned long nr)
{
	remove_frames(NULL, nr, backing);
	xen_free_unpopulated_pages(nr, backing);
	kvfree(backing);
}

/* Takes frames and mappings of a range away; the backing pages stay. */
void remap_auto_clear(struct vm_area_struct *vma, unsigned long addr,
		      unsigned long nr, struct page **backing)
{
	zap_vma_ptes(vma, addr, nr * PAGE_SIZE);
	remove_frames(vma, nr, backing);
}

static void empty_failed(struct remap_request *r)
{
	unsigned long i;

	for (i = 0; i < r->nr; i++)
		if (r->errors[i])
			zap_vma_ptes(r->vma, r->addr + i * PAGE_SIZE, PAGE_SIZE);
}

int remap_auto(struct remap_request *r)
{
	unsigned long i, failed = 0;
	int rc;

	/* The hypervisor puts no frame over another one. */
	if (r->replace && !remap_range_is_empty(r->vma->vm_mm, r->addr, r->nr))
		remap_auto_clear(r->vma, r->addr, r->nr, r->backing);

	rc = xen_xlate_remap_gfn_array(r->vma, r->addr, r->frames, r->nr,
				       r->errors, r->vma->vm_page_prot, r->domid,
				       r->backing);
	remap_count(map_hypercalls, r->nr);
	remap_count(map_entries, r->nr);
	cond_resched();
	if (rc == r->nr)
		return 0;

	for (i = 0; i < r->nr; i++) {
		if (rc < 0)
			r->errors[i] = rc;
		failed += r->errors[i] != 0;
	}
	remap_count(failed_entries, failed);
	r->failed += failed;
	if (r->replace)
		empty_failed(r);
	return rc < 0 ? rc : 0;
}

struct backing_walk {
	struct vm_area_struct *vma;
	struct page **page;
};

static int map_backing_page(pte_t *pte, unsigned long addr, void *data)
{
	struct backing_walk *walk = data;
	unsigned long pfn = page_to_pfn(*walk->page++);

	set_pte(pte, pte_mkspecial(pfn_pte(pfn, walk->vma->vm_page_prot)));
	return 0;
}

/* Maps backing pages behind which the hypervisor has put frames already. */
int remap_backing(struct vm_area_struct *vma, unsigned long addr,
		  unsigned long nr, struct page **backing)
{
	struct backing_walk walk = { .vma = vma, .page = backing };

	return may_fail(-ENOMEM, apply_to_page_range(vma->vm_mm, addr,
						     nr * PAGE_SIZE,
						     map_backing_page, &walk));
}
