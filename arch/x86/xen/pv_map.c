// SPDX-License-Identifier: GPL-2.0-only
/* PV: mapping frames, a batch of entries of any page-table pages a hypercall. */
#include <linux/mm.h>
#include <linux/sched.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include "counters.h"
#include "pv_table.h"
#include "pv_update.h"
#include "remap.h"

/* The part of a request that one hypercall is made for. */
struct part {
	struct remap_request *request;
	unsigned long first;	/* its first slot in the request */
	unsigned int nr;
	bool present;		/* something may have been mapped in it */
	unsigned int failed;
	int error;
};

static void note_failed(unsigned int index, int error, void *data)
{
	struct part *part = data;

	part->failed++;
	part->error = error;
	if (!part->request->contiguous)
		part->request->errors[part->first + index] = error;
}

static void fill_array(struct mmu_update *entry, u64 ptr, u64 flags,
		       const xen_pfn_t *frame, unsigned long nr)
{
	const struct mmu_update *end = entry + nr;

	for (; entry < end; entry++, ptr += sizeof(pte_t)) {
		entry->ptr = ptr;
		entry->val = *frame++ << PAGE_SHIFT | flags;
	}
}

static void fill_run(struct mmu_update *entry, u64 ptr, u64 val, unsigned long nr)
{
	const struct mmu_update *end = entry + nr;

	for (; entry < end; entry++, ptr += sizeof(pte_t), val += PAGE_SIZE) {
		entry->ptr = ptr;
		entry->val = val;
	}
}

static bool any_present(const struct pv_table *table)
{
	unsigned long i;

	for (i = 0; i < table->nr; i++)
		if (pte_flags(READ_ONCE(table->pte[i])) & _PAGE_PRESENT)
			return true;
	return false;
}

static void fill(struct mmu_update *entry, const struct pv_table *table,
		 const struct remap_request *r, unsigned long slot)
{
	u64 ptr = table->maddr | (r->no_translate ? MMU_PT_UPDATE_NO_TRANSLATE :
						    MMU_NORMAL_PT_UPDATE);
	u64 flags = pte_val_ma(pte_mkspecial(mfn_pte(0, r->vma->vm_page_prot)));

	if (r->contiguous)
		fill_run(entry, ptr, (r->frames[0] + slot) << PAGE_SHIFT | flags,
			 table->nr);
	else
		fill_array(entry, ptr, flags, r->frames + slot, table->nr);
}

/* What the batch has room for, or as far as there is memory for page tables. */
static int gather(struct remap_batch *batch, struct part *part)
{
	struct remap_request *r = part->request;
	unsigned long at = part->first;
	struct pv_table table;
	int rc = 0;

	for (; part->nr < batch->room && at < r->nr; at += table.nr) {
		rc = pv_table_get(r->vma->vm_mm, r->addr + at * PAGE_SIZE,
				  r->nr - at, batch->room - part->nr, &table);
		if (rc)
			break;
		if (r->replace && !part->present)
			part->present = any_present(&table);
		fill(batch->entry + part->nr, &table, r, at);
		part->nr += table.nr;
	}
	return rc;
}

/* A slot whose new frame was refused must not go on showing the old one. */
static void empty_failed(struct remap_batch *batch, const struct part *part)
{
	struct remap_request *r = part->request;
	struct pv_table table;
	unsigned int n = 0;
	unsigned long i;

	for (i = part->first; i < part->first + part->nr; i++) {
		if (!r->errors[i])
			continue;
		pv_table_find(r->vma->vm_mm, r->addr + i * PAGE_SIZE, 1, 1, &table);
		if (!table.pte || !pv_entry_is_ours(READ_ONCE(*table.pte)))
			continue;
		batch->entry[n].ptr = table.maddr | MMU_NORMAL_PT_UPDATE;
		batch->entry[n++].val = 0;
	}
	if (n)
		pv_update_empty(batch->entry, n);
}

static int map_part(struct remap_batch *batch, struct part *part)
{
	struct remap_request *r = part->request;

	remap_count(map_hypercalls,
		    pv_update(batch->entry, part->nr, r->domid, !r->contiguous,
			      note_failed, part));
	remap_count(map_entries, part->nr);
	if (part->failed) {
		remap_count(failed_entries, part->failed);
		r->failed += part->failed;
		if (part->present && !r->contiguous)
			empty_failed(batch, part);
	}
	r->stale |= part->present;
	return r->contiguous ? part->error : 0;
}

/* Gives the slots from there on an error without having tried them. */
int remap_fail(struct remap_request *r, unsigned long from, int error)
{
	if (r->contiguous)
		return error;
	r->failed += r->nr - from;
	remap_count(failed_entries, r->nr - from);
	for (; from < r->nr; from++)
		r->errors[from] = error;
	return error;
}

/*
 * Maps what the request asks for; errors[] must be zero on entry. Returns 0
 * when every frame was tried, else the error that ended it, which is then also
 * the error of the frames not tried.
 */
int remap_pv(struct remap_batch *batch, struct remap_request *request)
{
	unsigned long at;
	int rc = 0;

	for (at = 0; !rc && at < request->nr; ) {
		struct part part = { .request = request, .first = at };
		int ended = gather(batch, &part);

		at += part.nr;
		if (part.nr)
			rc = map_part(batch, &part);
		if (!rc && ended)
			rc = remap_fail(request, at, ended);
		cond_resched();
	}
	return rc;
}
