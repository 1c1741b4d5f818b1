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

void pv_table_find(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		   unsigned long room, struct pv_table *table)
{
	set_stretch(table, addr, nr, room);
	apply_to_existing_page_range(mm, addr, PAGE_SIZE, take_entry,
				     &table->pte);
	if (table->pte)
		table->maddr = virt_to_machine(table->pte).maddr;
	else
		table->nr = min(nr, PTRS_PER_PTE - pte_index(addr));
}
