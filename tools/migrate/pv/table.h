/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Page tables of a 64-bit PV guest: their entries hold the machine's frames,
 * in a stream they hold the guest's. Pure functions.
 */
#ifndef XENFERRY_PV_TABLE_H
#define XENFERRY_PV_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "pv/frames.h"

/* An entry that can't be translated. */
struct pv_bad_entry {
	unsigned index;
	uint64_t entry;
};

/* type: XF_PAGE_*, pinned or not. */
bool pv_is_table(unsigned type);
/* 1 to 4, for a table. */
unsigned pv_table_level(unsigned type);

/*
 * Copies a table, its entries made to hold pfns; Xen's own entries become 0,
 * the receiving Xen makes them anew. -ERANGE: an entry holds no frame of the guest; -E2BIG:
 * one maps a large page. Then *bad says which, and `to` is of no use.
 */
int pv_table_normalise(const struct pv_frames *f, unsigned type, const uint64_t *from, uint64_t *to,
		       struct pv_bad_entry *bad);
/* The other way round, in place. -ERANGE: an entry holds a pfn without memory. */
int pv_table_localise(const struct pv_frames *f, uint64_t *table, struct pv_bad_entry *bad);

#endif
