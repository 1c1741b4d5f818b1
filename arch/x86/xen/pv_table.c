// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding page-table entries. The kernel's walker calls back once an entry,
 * under the page-table lock. One call a page-table page is enough: the entries
 * after the first follow in the same page, and the page stays where it is for
 * as long as mmap_lock keeps the range from being unmapped by others.
 */
#include <linux/mm.h>

#include <asm/xen/page.h>

#include <xen/xenferry_inject.h>

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

/* The page-table page is allocated where there is none. */
int pv_table_get(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		 unsigned long room, struct pv_table *table)
{
	int rc;

	set_stretch(table, addr, nr, room);
	rc = may_fail(-ENOMEM, apply_to_page_range(mm, addr, PAGE_SIZE, take_entry,
						   &table->pte));
	if (rc)
		return rc;
	table->maddr = virt_to_machine(table->pte).maddr;
	return 0;
}

/*
 * The entry of the level above that an address's page-table page hangs at,
 * NULL where there is none. By hand, as not every kernel lets modules call its
 * walker of what exists, and that one looks at the entries one by one.
 */
static pmd_t *find_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud) || pud_bad(*pud))
		return NULL;
	pmd = pmd_offset(pud, addr);
	if (pmd_none(*pmd) || pmd_bad(*pmd))
		return NULL;
	return pmd;
}

/* As pv_table_get(), but finds only what is there. */
void pv_table_find(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		   unsigned long room, struct pv_table *table)
{
	set_stretch(table, addr, nr, room);
	table->pmd = find_pmd(mm, addr);
	if (!table->pmd)
		return;
	table->pte = pte_offset_kernel(table->pmd, addr);
	table->maddr = virt_to_machine(table->pte).maddr;
}
