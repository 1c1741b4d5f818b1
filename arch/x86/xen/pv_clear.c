// SPDX-License-Identifier: GPL-2.0-only
/* PV: taking mappings away, whole page-table pages or a batch of entries at a time. */
#include <linux/mm.h>
#include <linux/sched.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include <xen/xenferry_inject.h>

#include "counters.h"
#include "pv_empty.h"
#include "pv_table.h"
#include "pv_update.h"
#include "remap.h"

/* What is gathered until there is enough of it. */
struct clearing {
	struct remap_batch *batch;
	unsigned int nr;		/* entries */
	struct pv_empty tables;		/* whole page-table pages */
	unsigned long cleared;		/* entries: a flush is due */
};

static void clear_entries(struct clearing *c)
{
	if (!c->nr)
		return;
	pv_update_empty(c->batch->entry, c->nr);
	c->cleared += c->nr;
	c->nr = 0;
}

static void add_entries(struct clearing *c, const struct pv_table *table,
			xen_pfn_t *removed)
{
	struct mmu_update *entry = c->batch->entry + c->nr;
	unsigned long i;

	for (i = 0; i < table->nr; i++) {
		pte_t pte = READ_ONCE(table->pte[i]);

		if (!pv_entry_is_ours(pte))
			continue;
		if (removed)
			removed[i] = pte_mfn(pte);
		entry->ptr = (table->maddr + i * sizeof(pte_t)) |
			     MMU_NORMAL_PT_UPDATE;
		entry->val = 0;
		entry++;
	}
	c->nr = entry - c->batch->entry;
}

/* The gathered tables; where that can't be done, entry by entry. */
static void clear_tables(struct clearing *c)
{
	struct pv_table table = { .nr = PTRS_PER_PTE };
	unsigned int i;

	if (c->tables.nr && pv_empty_tables(&c->tables))
		for (i = 0; i < c->tables.nr; i++) {
			table.pte = c->tables.pte[i];
			table.maddr = virt_to_machine(table.pte).maddr;
			clear_entries(c);
			add_entries(c, &table, NULL);
		}
	c->tables.nr = 0;
	c->tables.entries = 0;
}

/*
 * Clears every entry of [start, end) that maps a foreign frame; what else is
 * there (a private copy of such a page) is the kernel's to deal with. Where
 * removed is given, the machine frames go there, slot by slot. Returns whether
 * the TLB is to be flushed.
 */
bool remap_clear(struct remap_batch *batch, struct mm_struct *mm,
		 unsigned long start, unsigned long end, xen_pfn_t *removed,
		 bool may_sleep)
{
	struct clearing c = { .batch = batch };
	struct pv_table table;
	unsigned long addr;

	for (addr = start; addr < end; addr += table.nr * PAGE_SIZE) {
		pv_table_find(mm, addr, (end - addr) >> PAGE_SHIFT,
			      PTRS_PER_PTE, &table);
		if (!table.pte)
			continue;
		if (!removed && table.nr == PTRS_PER_PTE &&
		    pv_empty_add(&c.tables, &table)) {
			if (c.tables.nr < PV_EMPTY_MAX)
				continue;
			clear_tables(&c);
		} else {
			if (c.nr + table.nr > batch->room)
				clear_entries(&c);
			add_entries(&c, &table, removed ? removed +
				    ((addr - start) >> PAGE_SHIFT) : NULL);
		}
		if (may_sleep)
			cond_resched();
	}
	clear_tables(&c);
	clear_entries(&c);
	return c.cleared;
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
	if (may_fail(-EINVAL, HYPERVISOR_mmuext_op(&op, 1, NULL, DOMID_SELF))) {
		/* Nothing stale may stay: then all of it goes, everywhere. */
		pv_flush_all();
	}
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
