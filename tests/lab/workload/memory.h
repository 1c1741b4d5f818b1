/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory under watch: pages, what each must hold, and how many were found wrong. */
#ifndef WORKLOAD_MEMORY_H
#define WORKLOAD_MEMORY_H

#include "page.h"
#include "table.h"

struct memory {
	uint64_t *base;
	struct table table;
	uint64_t seed;
	uint64_t checked, written, errors;
	uint32_t first_bad;
	enum page_state first_state;
};

/* pages of zeroes, really there. */
int memory_init(struct memory *memory, uint32_t pages, uint64_t seed);
void memory_free(struct memory *memory);
uint64_t *memory_page(const struct memory *memory, uint32_t page);

/* Checks one page against the table; a bad one is counted and rewritten, so that it is counted once. */
enum page_state memory_check(struct memory *memory, uint32_t page);

/* Checks one page, then writes its next generation. */
void memory_rewrite(struct memory *memory, uint32_t page);

/* Flips one bit behind the table's back: the fault a check must find. */
void memory_corrupt(struct memory *memory, uint32_t page);

#endif
