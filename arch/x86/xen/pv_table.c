// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding page-table entries. The kernel's walkers call back once an entry,
 * under the page-table lock. One call a page-table page is enough: the entries
 * after the first follow in the same page, and the page stays where it is for
 * as long as mmap_lock keeps the range from being unmapped by others.
 */
#include <linux/mm.h>

#include <asm/xen/page.h>

#include "pv_table.h"

static int take_entry(pte_t *pte, unsigned long addr, void *data)
{
	*(pte_t **)data = pte;
	return 0;
}

static void set_stretch(struct pv_table *table, unsigned long addr,
			unsigned long nr, unsigned long room)
{
	unsigned long left = PTRS_PER_PTE - pte_index(addr);

	table->nr = min3(nr, left, room);
	table->pte = NULL;
	table->maddr = 0;
}

/* As pv_table_find(), and allocates the page-table page where there is none. */
int pv_table_get(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		 unsigned long room, struct pv_table *table)
{
	int rc;

	set_stretch(table, addr, nr, room);
	rc = apply_to_page_range(mm, addr, PAGE_SIZE, take_entry, &table->pte);
	if (rc)
		return rc;
	table->maddr = virt_to_machine(table->pte).maddr;
	return 0;
}

struct first_entry {
	pte_t *pte;
	unsigned long addr;
};

static int stop_at_entry(pte_t *pte, unsigned long addr, void *data)
{
	*(struct first_entry *)data = (struct first_entry){ pte, addr };
	return 1;
}

/*
 * The walk calls back for entries only that aren't empty: the first slot of a
 * stretch may be empty where later ones are not, so it has to look at them all.
 */
void pv_table_find(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		   unsigned long room, struct pv_table *table)
{
	struct first_entry first = { };

	set_stretch(table, addr, nr, room);
	apply_to_existing_page_range(mm, addr, table->nr * PAGE_SIZE,
				     stop_at_entry, &first);
	if (!first.pte)
		return;
	/* A stretch lies within one page-table page. */
	table->pte = first.pte - ((first.addr - addr) >> PAGE_SHIFT);
	table->maddr = virt_to_machine(table->pte).maddr;
}
