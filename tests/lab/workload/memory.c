// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

int memory_init(struct memory *memory, uint32_t pages, uint64_t seed)
{
	*memory = (struct memory){ .seed = seed };
	memory->base = mmap(NULL, (size_t)pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory->base == MAP_FAILED)
		return -errno;
	return table_init(&memory->table, pages);
}

void memory_free(struct memory *memory)
{
	munmap(memory->base, (size_t)memory->table.pages * PAGE_BYTES);
	table_free(&memory->table);
}

uint64_t *memory_page(const struct memory *memory, uint32_t page)
{
	return memory->base + (size_t)page * PAGE_WORDS;
}

enum page_state memory_check(struct memory *memory, uint32_t page)
{
	uint32_t generation = memory->table.generation[page];
	enum page_state state = page_check(memory_page(memory, page), memory->seed, page, generation);

	memory->checked++;
	if (state == PAGE_GOOD)
		return state;
	if (memory->errors++ == 0) {
		memory->first_bad = page;
		memory->first_state = state;
	}
	page_fill(memory_page(memory, page), memory->seed, page, generation);
	return state;
}

void memory_rewrite(struct memory *memory, uint32_t page)
{
	memory_check(memory, page);
	page_fill(memory_page(memory, page), memory->seed, page, table_next(&memory->table, page));
	memory->written++;
}

void memory_corrupt(struct memory *memory, uint32_t page)
{
	memory_page(memory, page)[PAGE_WORDS / 2] ^= 1;
}
