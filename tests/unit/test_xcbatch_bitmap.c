/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bitmaps against the simplest thing that can be right: a byte a bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "xcbatch.h"

static const uint64_t sizes[] = { 1, 2, 63, 64, 65, 127, 128, 129, 1000, 4096, 40961 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint64_t state = 88172645463325252u;

static uint64_t random_word(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Exactly as long as asked for: ASan watches the ends. */
static uint64_t *new_map(uint64_t bits)
{
	uint64_t *map = calloc(xcbatch_bitmap_words(bits), sizeof(*map));

	assert_non_null(map);
	return map;
}

static unsigned char *new_reference(uint64_t *map, uint64_t bits, unsigned one_in)
{
	unsigned char *ref = calloc(bits, 1);

	assert_non_null(ref);
	for (uint64_t i = 0; i < bits; i++) {
		ref[i] = random_word() % one_in == 0;
		if (ref[i])
			xcbatch_bitmap_set(map, i);
	}
	return ref;
}

static void assert_same(const uint64_t *map, const unsigned char *ref, uint64_t bits)
{
	for (uint64_t i = 0; i < bits; i++)
		assert_int_equal(xcbatch_bitmap_test(map, i), ref[i]);
}

static void test_words(void **unused)
{
	(void)unused;
	assert_int_equal(xcbatch_bitmap_words(0), 0);
	assert_int_equal(xcbatch_bitmap_words(1), 1);
	assert_int_equal(xcbatch_bitmap_words(64), 1);
	assert_int_equal(xcbatch_bitmap_words(65), 2);
	assert_int_equal(xcbatch_bitmap_words(UINT64_MAX), (UINT64_C(1) << 58));
}

/* The hypervisor writes bytes: bit i is bit i % 8 of byte i / 8. */
static void test_layout(void **unused)
{
	unsigned char bytes[64] = { 0 };
	uint64_t map[8] = { 0 };

	(void)unused;
	for (unsigned i = 0; i < 512; i += 7) {
		xcbatch_bitmap_set(map, i);
		bytes[i / 8] |= (unsigned char)(1u << (i % 8));
	}
	assert_memory_equal(map, bytes, sizeof(map));
}

static void test_set_and_clear(void **unused)
{
	(void)unused;
	for (size_t s = 0; s < SIZES; s++) {
		uint64_t bits = sizes[s], *map = new_map(bits);
		unsigned char *ref = new_reference(map, bits, 2);

		assert_same(map, ref, bits);
		for (uint64_t i = 0; i < bits; i++) {
			uint64_t bit = random_word() % bits;

			xcbatch_bitmap_clear(map, bit);
			ref[bit] = 0;
		}
		assert_same(map, ref, bits);
		free(ref);
		free(map);
	}
}

static void test_count_and_next(void **unused)
{
	(void)unused;
	for (size_t s = 0; s < SIZES * 3; s++) {
		static const unsigned one_in[] = { 1, 3, 200 };
		uint64_t bits = sizes[s / 3], count = 0, *map = new_map(bits);
		unsigned char *ref = new_reference(map, bits, one_in[s % 3]);

		for (uint64_t i = 0; i < bits; i++)
			count += ref[i];
		assert_int_equal(xcbatch_bitmap_count(map, bits), count);
		for (uint64_t from = 0; from <= bits; from++) {
			uint64_t want = from;

			while (want < bits && !ref[want])
				want++;
			assert_int_equal(xcbatch_bitmap_next(map, bits, from), want);
			if (want > from + 200)
				from += 100;
		}
		assert_int_equal(xcbatch_bitmap_next(map, bits, UINT64_MAX), bits);
		free(ref);
		free(map);
	}
}

/* What lies in the last word beyond the map's end belongs to nobody. */
static void test_bits_beyond_the_end(void **unused)
{
	uint64_t map[2] = { 0, ~UINT64_C(0) << 7 }, other[2] = { 0, 1 };

	(void)unused;
	assert_int_equal(xcbatch_bitmap_count(map, 70), 0);
	assert_int_equal(xcbatch_bitmap_next(map, 70, 0), 70);
	assert_int_equal(xcbatch_bitmap_next(map, 70, 69), 70);
	xcbatch_bitmap_or(other, map, 70);
	assert_int_equal(other[1], 1);
	xcbatch_bitmap_fill(map, 70);
	assert_int_equal(map[1], 0x3f);
	map[1] = ~UINT64_C(0);
	xcbatch_bitmap_zero(map, 70);
	assert_int_equal(map[0] | map[1], 0);
}

static void test_fill_zero_or(void **unused)
{
	(void)unused;
	for (size_t s = 0; s < SIZES; s++) {
		uint64_t bits = sizes[s], *into = new_map(bits), *from = new_map(bits);
		unsigned char *a = new_reference(into, bits, 3);
		unsigned char *b = new_reference(from, bits, 3);

		xcbatch_bitmap_or(into, from, bits);
		for (uint64_t i = 0; i < bits; i++)
			a[i] |= b[i];
		assert_same(into, a, bits);
		assert_same(from, b, bits);
		xcbatch_bitmap_fill(into, bits);
		assert_int_equal(xcbatch_bitmap_count(into, bits), bits);
		xcbatch_bitmap_zero(into, bits);
		assert_int_equal(xcbatch_bitmap_count(into, bits), 0);
		free(a);
		free(b);
		free(into);
		free(from);
	}
}

static void test_no_bits_at_all(void **unused)
{
	(void)unused;
	/* Nothing may be read or written: NULL would fault. */
	xcbatch_bitmap_fill(NULL, 0);
	xcbatch_bitmap_zero(NULL, 0);
	xcbatch_bitmap_or(NULL, NULL, 0);
	assert_int_equal(xcbatch_bitmap_count(NULL, 0), 0);
	assert_int_equal(xcbatch_bitmap_next(NULL, 0, 0), 0);
}

#define SHARED_WORDS 64
static uint64_t shared[SHARED_WORDS];

/* Sets a share of the bits while the main thread claims words. */
static void *setter(void *arg)
{
	for (uintptr_t i = (uintptr_t)arg; i < SHARED_WORDS * 64; i += 4)
		xcbatch_bitmap_atomic_set(shared, i);
	return NULL;
}

/* Each bit that is set once by some thread is claimed exactly once. */
static void test_atomic_claim(void **unused)
{
	(void)unused;
	for (int round = 0; round < 20; round++) {
		uint64_t seen[SHARED_WORDS] = { 0 }, claims = 0;
		pthread_t threads[4];

		for (uintptr_t t = 0; t < 4; t++)
			assert_int_equal(pthread_create(&threads[t], NULL, setter, (void *)t), 0);
		for (int pass = 0; pass < 50; pass++) {
			if (pass == 49)
				for (int t = 0; t < 4; t++)
					pthread_join(threads[t], NULL);
			for (size_t word = 0; word < SHARED_WORDS; word++) {
				uint64_t got = xcbatch_bitmap_atomic_claim(shared, word);

				assert_int_equal(seen[word] & got, 0);
				seen[word] |= got;
				claims += (unsigned)__builtin_popcountll(got);
			}
		}
		assert_int_equal(claims, SHARED_WORDS * 64);
		assert_int_equal(xcbatch_bitmap_count(shared, SHARED_WORDS * 64), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_set_and_clear),
		cmocka_unit_test(test_count_and_next),
		cmocka_unit_test(test_bits_beyond_the_end),
		cmocka_unit_test(test_fill_zero_or),
		cmocka_unit_test(test_no_bits_at_all),
		cmocka_unit_test(test_atomic_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
