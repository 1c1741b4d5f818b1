// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"
#include "page.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t entry_sum(uint32_t page, uint32_t generation)
{
	return page_mix(((uint64_t)page << 32 | generation) + 1);
}

static uint64_t whole_sum(const struct table *table)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < table->pages; i++)
		sum += entry_sum(i, table->generation[i]);
	return sum;
}

int table_init(struct table *table, uint32_t pages)
{
	table->generation = calloc(pages, sizeof(*table->generation));
	if (!table->generation)
		return -ENOMEM;
	table->pages = pages;
	table->sum = whole_sum(table);
	return 0;
}

void table_free(struct table *table)
{
	free(table->generation);
	table->generation = NULL;
}

uint32_t table_next(struct table *table, uint32_t page)
{
	uint32_t old = table->generation[page], new = old + 1;

	if (new == 0)
		new = 1;	/* 0 means never written */
	table->generation[page] = new;
	table->sum += entry_sum(page, new) - entry_sum(page, old);
	return new;
}

bool table_intact(const struct table *table)
{
	return whole_sum(table) == table->sum;
}
