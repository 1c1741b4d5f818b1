// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page.h"

#include <stdbool.h>
#include <string.h>

#define HEADER_KEY 0x78656e6665727279ULL
#define STEP 0x9e3779b97f4a7c15ULL

uint64_t page_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static uint64_t header(uint64_t seed, uint32_t number, uint32_t generation)
{
	return ((uint64_t)number << 32 | generation) ^ HEADER_KEY ^ page_mix(seed);
}

static uint64_t stream_start(uint64_t seed, uint32_t number, uint32_t generation)
{
	return page_mix(seed + page_mix(((uint64_t)number << 32 | generation) + STEP));
}

void page_fill(uint64_t *page, uint64_t seed, uint32_t number, uint32_t generation)
{
	uint64_t state = stream_start(seed, number, generation);

	if (generation == 0) {
		memset(page, 0, PAGE_BYTES);
		return;
	}
	page[0] = header(seed, number, generation);
	for (int i = 1; i < PAGE_WORDS; i++) {
		state += STEP;
		page[i] = page_mix(state);
	}
}

static bool is_zero(const uint64_t *page)
{
	uint64_t any = 0;

	for (int i = 0; i < PAGE_WORDS; i++)
		any |= page[i];
	return any == 0;
}

static bool holds(const uint64_t *page, uint64_t seed, uint32_t number, uint32_t generation)
{
	uint64_t state = stream_start(seed, number, generation), differs;

	if (generation == 0)
		return is_zero(page);
	differs = page[0] ^ header(seed, number, generation);
	for (int i = 1; i < PAGE_WORDS; i++) {
		state += STEP;
		differs |= page[i] ^ page_mix(state);
	}
	return differs == 0;
}

enum page_state page_check(const uint64_t *page, uint64_t seed, uint32_t number, uint32_t generation)
{
	uint64_t id;

	if (holds(page, seed, number, generation))
		return PAGE_GOOD;
	if (is_zero(page))
		return PAGE_LOST;
	id = page[0] ^ HEADER_KEY ^ page_mix(seed);
	if (!holds(page, seed, (uint32_t)(id >> 32), (uint32_t)id))
		return PAGE_ALTERED;
	return (uint32_t)(id >> 32) == number ? PAGE_STALE : PAGE_SWAPPED;
}

const char *page_state_name(enum page_state state)
{
	static const char *const names[] = { "good", "lost", "stale", "swapped", "altered" };

	return names[state];
}
