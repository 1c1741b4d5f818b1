/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch.h"

#include <string.h>

#define WORD_BITS 64

static uint64_t bit_mask(uint64_t bit)
{
	return UINT64_C(1) << (bit % WORD_BITS);
}

/* The bits of the last word that belong to a map of so many bits. */
static uint64_t tail_mask(uint64_t bits)
{
	return bits % WORD_BITS ? bit_mask(bits) - 1 : ~UINT64_C(0);
}

size_t xcbatch_bitmap_words(uint64_t bits)
{
	return bits / WORD_BITS + (bits % WORD_BITS != 0);
}

int xcbatch_bitmap_test(const uint64_t *map, uint64_t bit)
{
	return (map[bit / WORD_BITS] & bit_mask(bit)) != 0;
}

void xcbatch_bitmap_set(uint64_t *map, uint64_t bit)
{
	map[bit / WORD_BITS] |= bit_mask(bit);
}

void xcbatch_bitmap_clear(uint64_t *map, uint64_t bit)
{
	map[bit / WORD_BITS] &= ~bit_mask(bit);
}

void xcbatch_bitmap_fill(uint64_t *map, uint64_t bits)
{
	size_t words = xcbatch_bitmap_words(bits);

	if (words == 0)
		return;
	memset(map, 0xff, words * sizeof(*map));
	map[words - 1] = tail_mask(bits);
}

void xcbatch_bitmap_zero(uint64_t *map, uint64_t bits)
{
	size_t words = xcbatch_bitmap_words(bits);

	if (words > 0)
		memset(map, 0, words * sizeof(*map));
}

void xcbatch_bitmap_or(uint64_t *into, const uint64_t *from, uint64_t bits)
{
	size_t words = xcbatch_bitmap_words(bits);

	if (words == 0)
		return;
	for (size_t i = 0; i < words - 1; i++)
		into[i] |= from[i];
	into[words - 1] |= from[words - 1] & tail_mask(bits);
}

uint64_t xcbatch_bitmap_count(const uint64_t *map, uint64_t bits)
{
	size_t words = xcbatch_bitmap_words(bits);
	uint64_t count = 0;

	if (words == 0)
		return 0;
	/* Nearly all words of a map of dirty pages are 0, and not every processor counts bits by itself. */
	for (size_t i = 0; i < words - 1; i++)
		if (map[i])
			count += (unsigned)__builtin_popcountll(map[i]);
	return count + (unsigned)__builtin_popcountll(map[words - 1] & tail_mask(bits));
}

uint64_t xcbatch_bitmap_next(const uint64_t *map, uint64_t bits, uint64_t from)
{
	size_t words = xcbatch_bitmap_words(bits), i;
	uint64_t word, bit;

	if (from >= bits)
		return bits;
	i = from / WORD_BITS;
	word = map[i] & ~(bit_mask(from) - 1);
	while (word == 0) {
		if (++i == words)
			return bits;
		word = map[i];
	}
	bit = (uint64_t)i * WORD_BITS + (unsigned)__builtin_ctzll(word);
	return bit < bits ? bit : bits;
}

void xcbatch_bitmap_atomic_set(uint64_t *map, uint64_t bit)
{
	__atomic_fetch_or(&map[bit / WORD_BITS], bit_mask(bit), __ATOMIC_ACQ_REL);
}

uint64_t xcbatch_bitmap_atomic_claim(uint64_t *map, size_t word)
{
	return __atomic_exchange_n(&map[word], 0, __ATOMIC_ACQ_REL);
}
