/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mapping with patience for frames that are paged out. */
#ifndef PAGING_H
#define PAGING_H

#include "os_privcmd.h"

/*
 * os_privcmd_map, then up to XCBATCH_PAGING_TRIES - 1 more tries for those
 * frames only that are paged out (-ENOENT), with a pause before each.
 */
int paging_map(const struct os_privcmd *os, uint32_t domid, void *addr,
	       const uint64_t *gfns, size_t n, int *errs);

#endif
