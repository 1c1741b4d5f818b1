/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mapping another domain's frames into user address space: what the driver
 * asks of the architecture. Nothing here knows about ioctls or user pointers.
 *
 * In a PV domain a page-table entry is written by mmu_update, of which one
 * hypercall takes many, of any page-table pages. In an auto-translated domain
 * (PVH, HVM) frames are put behind pages of our own memory map, the `backing`,
 * and those pages are mapped.
 *
 * The caller holds mmap_lock for writing, or is the only one left who can
 * reach the range (see remap_clear()).
 */
#ifndef XENFERRY_ARCH_REMAP_H
#define XENFERRY_ARCH_REMAP_H

#include <linux/mm.h>
#include <linux/types.h>

#include <xen/features.h>
#include <xen/interface/xen.h>
#include <xen/xenferry_privcmd.h>

/* A slot of a frame array that is to be left alone. */
#define REMAP_NO_FRAME (~(xen_pfn_t)0)

/*
 * For comparison only: one entry a hypercall, and in a PV domain a flush of all
 * TLBs after each, as mapping was done before it was batched.
 */
extern bool remap_per_frame;

/* Most entries of one hypercall; between two, others get the processor. */
#define REMAP_BATCH_MAX 1024

/* Entries gathered for one hypercall; nobody else may use it meanwhile. */
struct remap_batch {
	union {
		struct mmu_update *entry;	/* PV */
		xen_pfn_t *gpfn;		/* auto-translated */
	};
	unsigned int room;
	bool cached;			/* where its memory is from */
};

struct remap_request {
	struct vm_area_struct *vma;
	unsigned long addr;
	unsigned long nr;
	xen_pfn_t *frames;	/* nr frames, or the first one where contiguous */
	s32 *errors;		/* nr results, 0 or negative errno */
	domid_t domid;
	bool contiguous;	/* PV only; errors is not used: the first error ends it */
	bool no_translate;	/* PV only: frames are machine frames */
	bool replace;		/* slots may be occupied; one that fails is left empty */
	struct page **backing;	/* auto-translated only: one page a slot */

	/* results, added to what is there already */
	unsigned long failed;
	bool stale;		/* an entry was overwritten: remap_flush() is due */
};

static inline bool remap_auto_translated(void)
{
	return xen_feature(XENFEAT_auto_translated_physmap);
}

int remap_start(void);
void remap_stop(void);

int remap_batch_init(struct remap_batch *batch, unsigned long nr);
void remap_batch_free(struct remap_batch *batch);

/* PV */
int remap_pv(struct remap_batch *batch, struct remap_request *request);
int remap_fail(struct remap_request *request, unsigned long from, int error);
bool remap_clear(struct remap_batch *batch, struct mm_struct *mm,
		 unsigned long start, unsigned long end, xen_pfn_t *removed,
		 bool may_sleep);
void remap_flush(struct mm_struct *mm, unsigned long addr, unsigned long nr);
bool remap_range_is_empty(struct mm_struct *mm, unsigned long addr,
			  unsigned long nr);

/* auto-translated */
struct page **remap_backing_alloc(unsigned long nr);
void remap_backing_free(struct page **backing, unsigned long nr);
int remap_auto(struct remap_batch *batch, struct remap_request *request);
int remap_backing(struct vm_area_struct *vma, unsigned long addr,
		  unsigned long nr, struct page **backing);
void remap_auto_clear(struct vm_area_struct *vma, unsigned long addr,
		      unsigned long nr, struct page **backing);

/* what was done since the module was loaded */
void remap_counters(struct xenferry_counters *sum);

#endif
