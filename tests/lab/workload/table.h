/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The generation each page must be at. It is guest memory like any other and can be damaged by what is under test,
 * so it carries a checksum, kept up to date with each change.
 */
#ifndef WORKLOAD_TABLE_H
#define WORKLOAD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table {
	uint32_t *generation;
	uint32_t pages;
	uint64_t sum;
};

int table_init(struct table *table, uint32_t pages);
void table_free(struct table *table);

/* The page is about to be rewritten: returns its new generation. */
uint32_t table_next(struct table *table, uint32_t page);

/* Does the checksum still fit the generations? */
bool table_intact(const struct table *table);

#endif
