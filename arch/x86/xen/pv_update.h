/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_ARCH_PV_UPDATE_H
#define XENFERRY_ARCH_PV_UPDATE_H

#include <linux/types.h>

#include <xen/interface/xen.h>

/* A failed entry: its index in the batch and the negative errno. */
typedef void (*pv_failed_fn)(unsigned int index, int error, void *data);

/* All of every processor's TLB. */
void pv_flush_all(void);
/* Empties entries by their mmu_update; those that it refuses by a write that traps. */
void pv_update_empty(struct mmu_update *entry, unsigned int nr);
unsigned int pv_update(struct mmu_update *entry, unsigned int nr, domid_t domid,
		       bool go_on, pv_failed_fn failed, void *data);

#endif
