/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pages are not what was noted of them, and what noting costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "page_hash.h"
#include "xcbatch.h"

#define FRAMES 20000

static size_t allocated;	/* by calloc since it was set to 0 */
static bool no_memory, no_random;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	allocated += n * size;
	return no_memory ? NULL : __real_calloc(n, size);
}

ssize_t __real_getrandom(void *buf, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t size, unsigned flags)
{
	return no_random ? -1 : __real_getrandom(buf, size, flags);
}

static struct xcbatch_content *content;
static _Alignas(16) uint8_t page[XCBATCH_PAGE_SIZE];

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(page); i++)
		page[i] = (uint8_t)(i * 7 + i / 256);
	allocated = 0;
	no_memory = no_random = false;
	return xcbatch_content_create(FRAMES, &content);
}

static int teardown(void **state)
{
	(void)state;
	xcbatch_content_destroy(content);
	return 0;
}

static void unnoted_pages_differ(void **state)
{
	(void)state;
	assert_int_equal(xcbatch_content_would_differ(content, 5, 0, page), 1);
	assert_int_equal(xcbatch_content_note(content, 5, 0, page), 0);
	assert_int_equal(xcbatch_content_would_differ(content, 5, 0, page), 0);
	assert_int_equal(xcbatch_content_would_differ(content, 6, 0, page), 1);
	assert_int_equal(xcbatch_content_would_differ(content, FRAMES - 1, 0, page), 1);
	assert_int_equal(xcbatch_content_would_differ(content, FRAMES, 0, page), 1);
	assert_int_equal(xcbatch_content_would_differ(content, UINT64_MAX, 0, page), 1);
}

static void each_bit_and_each_tag_counts(void **state)
{
	(void)state;
	assert_int_equal(xcbatch_content_note(content, 0, 3, page), 0);
	for (size_t bit = 0; bit < sizeof(page) * 8; bit++) {
		page[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!xcbatch_content_would_differ(content, 0, 3, page))
			fail_msg("bit %zu is not looked at", bit);
		page[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned tag = 0; tag < 256; tag++)
		assert_int_equal(xcbatch_content_would_differ(content, 0, (uint8_t)tag, page), tag != 3);
}

static void the_latest_note_counts(void **state)
{
	uint8_t before = page[4095];

	(void)state;
	assert_int_equal(xcbatch_content_note(content, 4096, 0, page), 0);
	page[4095]++;
	assert_int_equal(xcbatch_content_note(content, 4096, 0, page), 0);
	assert_int_equal(xcbatch_content_would_differ(content, 4096, 0, page), 0);
	page[4095] = before;
	assert_int_equal(xcbatch_content_would_differ(content, 4096, 0, page), 1);
}

static void a_page_of_zeroes_is_a_page(void **state)
{
	(void)state;
	memset(page, 0, sizeof(page));
	assert_int_equal(xcbatch_content_would_differ(content, 1, 0, page), 1);
	assert_int_equal(xcbatch_content_note(content, 1, 0, page), 0);
	assert_int_equal(xcbatch_content_would_differ(content, 1, 0, page), 0);
}

static void forgotten_pages_differ(void **state)
{
	(void)state;
	xcbatch_content_forget(content, 7);
	assert_int_equal(xcbatch_content_note(content, 7, 0, page), 0);
	assert_int_equal(xcbatch_content_note(content, 8, 0, page), 0);
	xcbatch_content_forget(content, 7);
	xcbatch_content_forget(content, FRAMES);
	assert_int_equal(xcbatch_content_would_differ(content, 7, 0, page), 1);
	assert_int_equal(xcbatch_content_would_differ(content, 8, 0, page), 0);
}

/* A guest of 4 TiB with two pages that hold something. */
static void holes_cost_nothing(void **state)
{
	struct xcbatch_content *large;

	(void)state;
	allocated = 0;
	assert_int_equal(xcbatch_content_create(UINT64_C(1) << 30, &large), 0);
	assert_true(allocated < (3u << 20));
	allocated = 0;
	assert_int_equal(xcbatch_content_note(large, 0, 0, page), 0);
	assert_int_equal(xcbatch_content_note(large, (UINT64_C(1) << 30) - 1, 0, page), 0);
	assert_int_equal(allocated, 2 * 4096 * 16);
	assert_int_equal(xcbatch_content_note(large, 4095, 0, page), 0);
	assert_int_equal(allocated, 2 * 4096 * 16);
	xcbatch_content_destroy(large);
}

static void wrong_arguments(void **state)
{
	struct xcbatch_content *c;

	(void)state;
	assert_int_equal(xcbatch_content_create(0, &c), -EINVAL);
	assert_int_equal(xcbatch_content_create((UINT64_C(1) << 36) + 1, &c), -EINVAL);
	assert_int_equal(xcbatch_content_create(1, NULL), -EINVAL);
	assert_int_equal(xcbatch_content_note(NULL, 0, 0, page), -EINVAL);
	assert_int_equal(xcbatch_content_note(content, 0, 0, NULL), -EINVAL);
	assert_int_equal(xcbatch_content_note(content, FRAMES, 0, page), -EINVAL);
	xcbatch_content_destroy(NULL);
}

static void failures(void **state)
{
	struct xcbatch_content *c;

	(void)state;
	no_random = true;
	assert_int_equal(xcbatch_content_create(1, &c), -EIO);
	no_random = false;
	assert_int_equal(xcbatch_content_note(content, 0, 0, page), 0);
	no_memory = true;
	assert_int_equal(xcbatch_content_create(1, &c), -ENOMEM);
	assert_int_equal(xcbatch_content_note(content, 5000, 0, page), -ENOMEM);
	no_memory = false;
	assert_int_equal(xcbatch_content_would_differ(content, 0, 0, page), 0);
	assert_int_equal(xcbatch_content_would_differ(content, 5000, 0, page), 1);
}

/* What a guest could prepare against one tracker is of no use against the next. */
static void each_tracker_has_a_secret(void **state)
{
	struct page_hash a, b;
	uint8_t secret[2][PAGE_HASH_SECRET] = { { 1 }, { 2 } };

	(void)state;
	a = page_hash_any(page, secret[0]);
	b = page_hash_any(page, secret[1]);
	assert_true(a.low != b.low && a.high != b.high);
	if (__builtin_cpu_supports("avx2")) {
		b = page_hash_avx2(page, secret[0]);
		assert_true(a.low == b.low && a.high == b.high);
	}
}

/* ---- threads ------------------------------------------------------------ */

static void *look(void *from)
{
	uintptr_t wrong = 0;

	for (uint64_t frame = (uintptr_t)from; frame < 2000; frame += 4)
		wrong += (uintptr_t)(xcbatch_content_would_differ(content, frame, 0, page) != (frame >= 1000));
	return (void *)wrong;
}

static void many_may_look(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (uint64_t frame = 0; frame < 1000; frame++)
		assert_int_equal(xcbatch_content_note(content, frame, 0, page), 0);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look, (void *)i), 0);
	for (int i = 0; i < 4; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(unnoted_pages_differ),
		TEST(each_bit_and_each_tag_counts),
		TEST(the_latest_note_counts),
		TEST(a_page_of_zeroes_is_a_page),
		TEST(forgotten_pages_differ),
		TEST(holes_cost_nothing),
		TEST(wrong_arguments),
		TEST(failures),
		TEST(each_tracker_has_a_secret),
		TEST(many_may_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
