/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_ARCH_PV_EMPTY_H
#define XENFERRY_ARCH_PV_EMPTY_H

#include "pv_table.h"

/* So many at a time: 8 MiB of address space. */
#define PV_EMPTY_MAX 4

/* Page-table pages to be emptied as a whole. */
struct pv_empty {
	unsigned int nr;
	unsigned int entries;		/* in all of them */
	pmd_t *pmd[PV_EMPTY_MAX];	/* what each hangs at */
	pte_t *pte[PV_EMPTY_MAX];	/* its first entry */
};

bool pv_empty_add(struct pv_empty *tables, const struct pv_table *table);
int pv_empty_tables(struct pv_empty *tables);

#endif
