/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WINDOW_H
#define WINDOW_H

#include <sys/types.h>

#include "handle.h"

struct stock_slots;

struct xcbatch_window {
	struct xcbatch *xb;
	char *addr;
	size_t frames;
	uint32_t domid;
	int prot;
	pid_t pid;			/* who created it: a child of fork has no mapping */
	struct stock_slots *stock;	/* NULL with our driver */
};

static inline void *slot_addr(const struct xcbatch_window *w, size_t slot)
{
	return w->addr + (slot << XCBATCH_PAGE_SHIFT);
}

#endif
