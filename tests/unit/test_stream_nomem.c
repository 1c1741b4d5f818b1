/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that runs out, at each allocation in turn: an error with a sentence, and nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "streamgen.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static int left = -1;	/* allocations until one fails; -1: none does */

static int fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static void ignore_item(void *ctx, const struct xf_inspect_item *item)
{
	(void)ctx;
	(void)item;
}

static void test_inspect(void **state)
{
	const struct xf_inspect_sink sink = { .item = ignore_item };
	struct xf_inspect_summary sum;
	struct xf_transport_mem t;
	struct gen g = { 0 };
	int failed = 0;
	(void)state;

	gen_xl(&g, 3, 100);
	for (int ret = -ENOMEM; ret; failed++) {
		struct xf_error e = { 0 };

		assert_true(failed < 50);
		xf_transport_mem_init(&t, g.data, g.size);
		left = failed;
		ret = xf_inspect(&t.base, &sink, &sum, &e);
		left = -1;
		xf_transport_mem_free(&t);
		assert_int_equal(e.code, ret);
		if (ret) {
			assert_int_equal(ret, -ENOMEM);
			assert_non_null(strstr(e.text, "No memory for"));
			assert_non_null(strstr(e.text, "expected"));
		}
	}
	/* the buffer, the configuration, the reader, its list (twice), two bodies */
	assert_true(failed > 6);
	gen_free(&g);
}

static void test_reader(void **state)
{
	const uint64_t word = 1;
	struct xf_stream_info info;
	struct xf_page_list list;
	struct xf_transport_mem t;
	struct xf_reader *r;
	struct xf_record rec;
	struct gen g = { 0 };
	(void)state;

	gen_hvm_before_pages(&g, 2);
	gen_pages(&g, &word, 1);
	xf_transport_mem_init(&t, g.data, g.size);
	left = 0;
	assert_int_equal(xf_reader_open(&r, &t.base, XF_STREAM_PLAIN), -ENOMEM);
	assert_int_equal(xf_reader_open(&r, &t.base, XF_STREAM_PLAIN), 0);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	assert_int_equal(xf_reader_next(r, &rec), 0);
	left = 0;
	assert_int_equal(xf_reader_pages(r, &list), -ENOMEM);
	assert_non_null(strstr(xf_reader_error(r)->text, "No memory for a list of 1 pages"));
	assert_int_equal(xf_reader_pages(r, &list), -ENOMEM);
	xf_reader_close(r);
	xf_transport_mem_free(&t);
	gen_free(&g);
}

static void test_writer(void **state)
{
	struct xf_transport_mem t;
	struct xf_writer *w;
	(void)state;

	xf_transport_mem_init(&t, NULL, 0);
	left = 0;
	assert_int_equal(xf_writer_open(&w, &t.base, 3, XF_STREAM_PLAIN), -ENOMEM);
	assert_int_equal(xf_writer_open(&w, &t.base, 3, XF_STREAM_PLAIN), 0);
	left = 0;
	assert_int_equal(xf_writer_gather(w, 100), -ENOMEM);	/* and each record goes out by itself */
	assert_int_equal(xf_writer_headers(w, XF_GUEST_X86_HVM, 4, 17), 0);
	left = 0;
	assert_int_equal(xf_writer_blob(w, XF_REC_STATIC_DATA_END, NULL, 0), -ENOMEM);
	assert_non_null(strstr(xf_writer_error(w)->text, "No memory for a list of 4 pieces"));
	assert_int_equal(t.base.bytes_written, 40);
	xf_writer_close(w);
	xf_transport_mem_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inspect),
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
