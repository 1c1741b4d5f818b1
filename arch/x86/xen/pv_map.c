// SPDX-License-Identifier: GPL-2.0-only
/* PV: mapping frames, a page-table page at a time. */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include "counters.h"
#include "pv_table.h"
#include "pv_update.h"
#include "remap.h"

int remap_batch_init(struct remap_batch *batch, unsigned long nr)
{
	batch->room = min_t(unsigned long, nr, PTRS_PER_PTE);
	batch->entry = kvmalloc_array(batch->room, sizeof(*batch->entry),
				      GFP_KERNEL);
	return batch->entry ? 0 : -ENOMEM;
}

void remap_batch_free(struct remap_batch *batch)
{
	kvfree(batch->entry);
	batch->entry = NULL;
}

/* One stretch of a request: the part of it within one page-table page. */
struct stretch {
	struct remap_request *request;
	unsigned long first;	/* its first slot in the request */
	unsigned int failed;
	int error;
};

static void note_failed(unsigned int index, int error, void *data)
{
	struct stretch *s = data;

	s->failed++;
	s->error = error;
	if (!s->request->contiguous)
		s->request->errors[s->first + index] = error;
}

static void fill(struct remap_batch *batch, const struct pv_table *table,
		 const struct stretch *s)
{
	struct remap_request *r = s->request;
	u64 ptr = table->maddr | (r->no_translate ? MMU_PT_UPDATE_NO_TRANSLATE :
						    MMU_NORMAL_PT_UPDATE);
	u64 flags = pte_val_ma(pte_mkspecial(mfn_pte(0, r->vma->vm_page_prot)));
	unsigned long i;

	for (i = 0; i < table->nr; i++, ptr += sizeof(pte_t)) {
		u64 frame = r->contiguous ? r->frames[0] + s->first + i :
					    r->frames[s->first + i];

		batch->entry[i].ptr = ptr;
		batch->entry[i].val = frame << PAGE_SHIFT | flags;
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

static void ignore_failed(unsigned int index, int error, void *data)
{
}

/* A slot whose new frame was refused must not go on showing the old one. */
static void empty_failed(struct remap_batch *batch, const struct pv_table *table,
			 const struct stretch *s)
{
	unsigned long i;
	unsigned int n = 0;

	for (i = 0; i < table->nr; i++) {
		if (!s->request->errors[s->first + i] ||
		    !pv_entry_is_ours(READ_ONCE(table->pte[i])))
			continue;
		batch->entry[n].ptr = (table->maddr + i * sizeof(pte_t)) |
				      MMU_NORMAL_PT_UPDATE;
		batch->entry[n++].val = 0;
	}
	if (!n)
		return;
	remap_count(clear_hypercalls, pv_update(batch->entry, n, DOMID_SELF,
						true, ignore_failed, NULL));
	remap_count(clear_entries, n);
}

static int map_stretch(struct remap_batch *batch, const struct pv_table *table,
		       struct stretch *s)
{
	struct remap_request *r = s->request;
	bool present = r->replace && any_present(table);

	fill(batch, table, s);
	remap_count(map_hypercalls,
		    pv_update(batch->entry, table->nr, r->domid,
			      !r->contiguous, note_failed, s));
	remap_count(map_entries, table->nr);
	if (s->failed) {
		remap_count(failed_entries, s->failed);
		r->failed += s->failed;
		if (present && !r->contiguous)
			empty_failed(batch, table, s);
	}
	r->stale |= present;
	return r->contiguous ? s->error : 0;
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
	struct stretch s = { .request = request };
	struct pv_table table;
	int rc;

	while (s.first < request->nr) {
		rc = pv_table_get(request->vma->vm_mm,
				  request->addr + s.first * PAGE_SIZE,
				  request->nr - s.first, batch->room, &table);
		if (rc)
			return remap_fail(request, s.first, rc);
		s.failed = 0;
		s.error = 0;
		rc = map_stretch(batch, &table, &s);
		if (rc)
			return rc;
		s.first += table.nr;
		cond_resched();
	}
	return 0;
}
