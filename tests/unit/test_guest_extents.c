/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of a list can be had in pieces of 2 MiB, and that nothing is lost or asked for twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "guest/extents.h"

#define N 4096

static uint64_t list[N];

static size_t append(size_t n, uint64_t from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		list[n + i] = from + i;
	return n + count;
}

/* Walks an exact copy (ASan watches its end) and counts both kinds. */
static void expect(size_t n, size_t large_frames, size_t single_frames)
{
	uint64_t *copy = malloc(n * sizeof(*copy) + 1);
	size_t large_seen = 0, single_seen = 0;
	bool large, last = false;

	memcpy(copy, list, n * sizeof(*copy));
	for (size_t at = 0, some; at < n; at += some) {
		some = extents_next(copy + at, n - at, &large);
		assert_in_range(some, 1, n - at);
		if (at)
			assert_int_not_equal(large, last);
		last = large;
		if (large) {
			assert_int_equal(copy[at] % EXTENT_FRAMES, 0);
			assert_int_equal(some % EXTENT_FRAMES, 0);
			large_seen += some;
		} else {
			single_seen += some;
		}
	}
	assert_int_equal(large_seen, large_frames);
	assert_int_equal(single_seen, single_frames);
	free(copy);
}

static void nothing(void **state)
{
	bool large;

	(void)state;
	assert_int_equal(extents_next(list, 0, &large), 0);
	assert_false(large);
}

static void whole(void **state)
{
	(void)state;
	expect(append(0, 1024, 512), 512, 0);
	expect(append(0, 1024, 1024), 1024, 0);
}

static void ends_of_a_run(void **state)
{
	(void)state;
	expect(append(0, 1000, 1100), 1024, 76);	/* 24 before, 52 behind */
	expect(append(0, 0, 511), 0, 511);
	expect(append(0, 1, 512), 0, 512);		/* long enough, not aligned */
	expect(append(0, 513, 1022), 0, 1022);
}

static void gaps(void **state)
{
	size_t n = append(0, 0, 160);

	(void)state;
	n = append(n, 256, 256);			/* the hole of a PC */
	n = append(n, 512, 512);
	n = append(n, 1024, 511);			/* its last frame is missing */
	n = append(n, 2048, 512);
	expect(n, 1024, 160 + 256 + 511);
}

static void scattered(void **state)
{
	(void)state;
	for (size_t i = 0; i < 1024; i++)
		list[i] = i * 512;
	expect(1024, 0, 1024);
	for (size_t i = 0; i < 512; i++)
		list[i] = 511 - i;			/* backwards */
	expect(512, 0, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(whole),
		cmocka_unit_test(ends_of_a_run),
		cmocka_unit_test(gaps),
		cmocka_unit_test(scattered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
