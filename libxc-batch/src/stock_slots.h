/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window over the stock driver, which can neither map over something nor
 * take part of a mapping away. Address space outside mappings of the device is
 * kept reserved, so that nothing else can settle there.
 */
#ifndef STOCK_SLOTS_H
#define STOCK_SLOTS_H

#include "window.h"

int  stock_slots_create(size_t frames, struct stock_slots **out);
void stock_slots_free(struct stock_slots *s);

/* As xcbatch_window_map, but 0 says that errs is filled. */
int  stock_slots_map(struct xcbatch_window *w, size_t first, const uint64_t *gfns,
		     size_t n, int *errs);
int  stock_slots_clear(struct xcbatch_window *w, size_t first, size_t n);

#endif
