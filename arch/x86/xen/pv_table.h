/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_ARCH_PV_TABLE_H
#define XENFERRY_ARCH_PV_TABLE_H

#include <linux/mm.h>

/*
 * The stretch of one page-table page that covers an address range: its entries
 * lie side by side, for the kernel as for the hypervisor.
 */
struct pv_table {
	pte_t *pte;		/* entry of the first address, NULL: there is no such page */
	u64 maddr;		/* its machine address */
	pmd_t *pmd;		/* what the page hangs at; from pv_table_find() only */
	unsigned long nr;	/* entries from there on that belong to the range */
};

int pv_table_get(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		 unsigned long room, struct pv_table *table);
void pv_table_find(struct mm_struct *mm, unsigned long addr, unsigned long nr,
		   unsigned long room, struct pv_table *table);

/* An entry that maps a frame the kernel has no page for, as this module makes them. */
static inline bool pv_entry_is_ours(pte_t pte)
{
	return (pte_flags(pte) & (_PAGE_PRESENT | _PAGE_SPECIAL)) ==
	       (_PAGE_PRESENT | _PAGE_SPECIAL);
}

#endif
