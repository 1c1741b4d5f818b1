// SPDX-License-Identifier: GPL-2.0-only
/* PV: taking mappings away, a page-table page at a time. */
#include <linux/mm.h>
#include <linux/sched.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include "counters.h"
#include "pv_table.h"
#include "pv_update.h"
#include "remap.h"

static unsigned int fill(struct remap_batch *batch, const struct pv_table *table,
			 xen_pfn_t *removed)
{
	unsigned int n = 0;
	unsigned long i;

	for (i = 0; i < table->nr; i++) {
		pte_t pte = READ_ONCE(table->pte[i]);

		if (!pv_entry_is_ours(pte))
			continue;
		if (removed)
			removed[i] = pte_mfn(pte);
		batch->entry[n].ptr = (table->maddr + i * sizeof(pte_t)) |
				      MMU_NORMAL_PT_UPDATE;
		batch->entry[n++].val = 0;
	}
	return n;
}

static void left_in_place(unsigned int index, int error, void *data)
{
	(*(unsigned int *)data)++;
}

/*
 * Clears every entry of [start, end) that maps a foreign frame; what else is
 * there (a private copy of such a page) is the kernel's to deal with. Where
 * removed is given, the machine frames go there, slot by slot. Returns how
 * many entries were cleared. If it isn't 0 the TLB is to be flushed.
 *
 * An entry the hypervisor won't clear is left to the kernel's own unmapping,
 * which traps: slow, but the outcome is the same.
 */
unsigned long remap_clear(struct remap_batch *batch, struct mm_struct *mm,
			  unsigned long start, unsigned long end,
			  xen_pfn_t *removed, bool may_sleep)
{
	unsigned long addr, cleared = 0;
	struct pv_table table;

	for (addr = start; addr < end; addr += table.nr * PAGE_SIZE) {
		unsigned int n, left = 0;

		pv_table_find(mm, addr, (end - addr) >> PAGE_SHIFT, batch->room,
			      &table);
		if (!table.pte)
			continue;
		n = fill(batch, &table,
			 removed ? removed + ((addr - start) >> PAGE_SHIFT) : NULL);
		if (!n)
			continue;
		remap_count(clear_hypercalls,
			    pv_update(batch->entry, n, DOMID_SELF, true,
				      left_in_place, &left));
		remap_count(clear_entries, n - left);
		cleared += n - left;
		if (may_sleep)
			cond_resched();
	}
	return cleared;
}

/*
 * Only processors that run this address space can hold its translations; the
 * kernel keeps the others out of mm_cpumask, and one that switches to it from
 * now on starts with none.
 */
void remap_flush(struct mm_struct *mm, unsigned long addr, unsigned long nr)
{
	struct mmuext_op op = {
		.cmd = nr == 1 ? MMUEXT_INVLPG_MULTI : MMUEXT_TLB_FLUSH_MULTI,
		.arg2.vcpumask = cpumask_bits(mm_cpumask(mm)),
	};

	if (nr == 1)
		op.arg1.linear_addr = addr;
	HYPERVISOR_mmuext_op(&op, 1, NULL, DOMID_SELF);
	remap_count(flushes, 1);
}

bool remap_range_is_empty(struct mm_struct *mm, unsigned long addr,
			  unsigned long nr)
{
	struct pv_table table;
	unsigned long i;

	for (; nr; nr -= table.nr, addr += table.nr * PAGE_SIZE) {
		pv_table_find(mm, addr, nr, PTRS_PER_PTE, &table);
		for (i = 0; table.pte && i < table.nr; i++)
			if (!pte_none(READ_ONCE(table.pte[i])))
				return false;
		cond_resched();
	}
	return true;
}
