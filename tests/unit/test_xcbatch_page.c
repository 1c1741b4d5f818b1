/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xcbatch.h"

/* Exactly one page, aligned to 16 and to nothing more: ASan watches both ends. */
static unsigned char *new_page(void)
{
	unsigned char *page = aligned_alloc(16, XCBATCH_PAGE_SIZE);

	assert_non_null(page);
	memset(page, 0, XCBATCH_PAGE_SIZE);
	return page;
}

static void test_zero(void **unused)
{
	unsigned char *page = new_page();

	(void)unused;
	assert_int_equal(xcbatch_page_is_zero(page), 1);
	free(page);
}

/* Any single bit counts, wherever it is. */
static void test_every_bit(void **unused)
{
	unsigned char *page = new_page();

	(void)unused;
	for (unsigned i = 0; i < XCBATCH_PAGE_SIZE * 8; i++) {
		page[i / 8] = (unsigned char)(1u << (i % 8));
		assert_int_equal(xcbatch_page_is_zero(page), 0);
		page[i / 8] = 0;
	}
	assert_int_equal(xcbatch_page_is_zero(page), 1);
	free(page);
}

static void test_full(void **unused)
{
	unsigned char *page = new_page();

	(void)unused;
	memset(page, 0xff, XCBATCH_PAGE_SIZE);
	assert_int_equal(xcbatch_page_is_zero(page), 0);
	free(page);
}

static void test_copy(void **unused)
{
	const size_t bytes = 3 * XCBATCH_PAGE_SIZE;
	unsigned char *from = malloc(bytes), *to = malloc(bytes);

	(void)unused;
	assert_non_null(from);
	assert_non_null(to);
	for (size_t i = 0; i < bytes; i++)
		from[i] = (unsigned char)(i * 7 + i / 4096);
	memset(to, 0, bytes);
	xcbatch_page_copy(to, from, 0);
	assert_int_equal(to[1], 0);
	xcbatch_page_copy(to, from, 3);
	assert_memory_equal(to, from, bytes);
	free(from);
	free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
