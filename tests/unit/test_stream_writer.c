/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the writer refuses to write, and what it says when the other end is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "stream/limits.h"
#include "stream/writer.h"

static uint8_t page[XF_PAGE_SIZE];
static uint64_t many[XF_RECORD_PAGES_MAX + 1];
static struct xf_transport_mem mem;
static struct xf_writer *w;

/* A version 3 stream of an HVM guest, headers and static data out. */
static int begin(void **state)
{
	(void)state;
	xf_transport_mem_init(&mem, NULL, 0);
	assert_int_equal(xf_writer_open(&w, &mem.base, 3, XF_STREAM_PLAIN), 0);
	assert_int_equal(xf_writer_headers(w, XF_GUEST_X86_HVM, 4, 17), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_STATIC_DATA_END, NULL, 0), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	xf_writer_close(w);
	xf_transport_mem_free(&mem);
	return 0;
}

/* Nothing of it went out, and the writer stays with its error. */
static void refused(int ret, int code, const char *text)
{
	uint64_t before = mem.base.bytes_written;

	assert_int_equal(ret, code);
	if (!strstr(xf_writer_error(w)->text, text))
		fail_msg("\"%s\" lacks \"%s\"", xf_writer_error(w)->text, text);
	assert_int_equal(xf_writer_error(w)->code, code);
	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 8), code);
	assert_int_equal(xf_writer_pages(w, many, 1, NULL, 0), code);
	assert_int_equal(xf_writer_headers(w, XF_GUEST_X86_HVM, 4, 17), code);
	assert_int_equal(mem.base.bytes_written, before);
}

static void test_open(void **state)
{
	struct xf_writer *none;
	(void)state;

	assert_int_equal(xf_writer_open(&none, &mem.base, 1, XF_STREAM_PLAIN), -EINVAL);
	assert_int_equal(xf_writer_open(&none, &mem.base, 4, XF_STREAM_PLAIN), -EINVAL);
	xf_writer_close(NULL);
}

static void test_headers_twice(void **state)
{
	(void)state;
	refused(xf_writer_headers(w, XF_GUEST_X86_HVM, 4, 17), -EINVAL, "Headers asked for twice");
}

static void test_headers_missing(void **state)
{
	(void)state;
	end(NULL);
	xf_transport_mem_init(&mem, NULL, 0);
	xf_writer_open(&w, &mem.base, 3, XF_STREAM_PLAIN);
	refused(xf_writer_blob(w, XF_REC_END, NULL, 0), -EINVAL, "before the headers");
}

static void test_guest_type(void **state)
{
	(void)state;
	end(NULL);
	xf_transport_mem_init(&mem, NULL, 0);
	xf_writer_open(&w, &mem.base, 3, XF_STREAM_PLAIN);
	refused(xf_writer_headers(w, 7, 4, 17), -EINVAL, "guest type 7");
}

static void test_order(void **state)
{
	(void)state;
	refused(xf_writer_blob(w, XF_REC_X86_CPUID_POLICY, page, XF_CPUID_LEAF_SIZE), -EINVAL,
		"found it after STATIC_DATA_END, expected it before");
}

static void test_after_end(void **state)
{
	(void)state;
	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 8), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_END, NULL, 0), 0);
	refused(xf_writer_blob(w, XF_RECORD_OPTIONAL, page, 8), -EINVAL,
		"found a record after END, expected END to be the last");
}

static void test_unknown(void **state)
{
	(void)state;
	refused(xf_writer_blob(w, 0x99, page, 8), -EINVAL, "found the mandatory type 0x00000099");
}

static void test_length(void **state)
{
	(void)state;
	refused(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 0), -EINVAL,
		"found a length of 0 bytes, expected at least 1");
}

static void test_too_long(void **state)
{
	struct iovec iov[2] = { { page, XF_RECORD_LENGTH_MAX }, { page, 8 } };
	(void)state;

	refused(xf_writer_record(w, XF_REC_HVM_CONTEXT, iov, 2), -EINVAL, "and at most 134217728");
}

static void test_page_counts(void **state)
{
	(void)state;
	refused(xf_writer_pages(w, many, 0, NULL, 0), -EINVAL, "with 0 pages, expected 1 to 65536");
	end(NULL);
	begin(NULL);
	refused(xf_writer_pages(w, many, XF_RECORD_PAGES_MAX + 1, NULL, 0), -EINVAL, "with 65537 pages");
}

static void test_page_type(void **state)
{
	uint64_t word = xf_page_word(9, 6);
	(void)state;

	refused(xf_writer_pages(w, &word, 1, NULL, 0), -EINVAL, "page type 0x6 for pfn 0x9");
}

static void test_page_contents(void **state)
{
	const uint64_t words[] = { xf_page_word(1, XF_PAGE_NOTAB), xf_page_word(2, XF_PAGE_XALLOC) };
	const struct iovec iov[] = { { page, sizeof(page) }, { page, sizeof(page) } };
	(void)state;

	refused(xf_writer_pages(w, words, 2, iov, 2), -EINVAL, "with 8192 bytes, expected 4096");
}

/* The receiver goes away in the middle of a record. */
static void test_broken_pipe(void **state)
{
	const uint64_t word = xf_page_word(1, XF_PAGE_NOTAB);
	const struct iovec iov = { page, sizeof(page) };
	(void)state;

	mem.write_limit = mem.size + 100;
	refused(xf_writer_pages(w, &word, 1, &iov, 1), -EPIPE,
		"Writing PAGE_DATA at byte 148 failed (Broken pipe): expected the receiver");
	assert_int_equal(mem.base.bytes_written, 148);
}

/* What is small waits; what doesn't fit takes it along, END and flushing too. */
static void test_gathered(void **state)
{
	const uint64_t word = xf_page_word(1, XF_PAGE_NOTAB);
	const struct iovec iov = { page, sizeof(page) };
	uint64_t before = mem.base.bytes_written;
	(void)state;

	assert_int_equal(xf_writer_flush(w), 0);
	assert_int_equal(xf_writer_gather(w, 0), -EINVAL);
	assert_int_equal(xf_writer_gather(w, 100), 0);
	assert_int_equal(xf_writer_gather(w, 100), -EINVAL);
	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 24), 0);
	assert_int_equal(mem.base.bytes_written, before);
	assert_int_equal(xf_writer_position(w), before + 32);
	assert_int_equal(xf_writer_flush(w), 0);
	assert_int_equal(xf_writer_flush(w), 0);
	assert_int_equal(mem.base.bytes_written, before + 32);

	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 24), 0);
	assert_int_equal(mem.base.bytes_written, before + 32);
	assert_int_equal(xf_writer_pages(w, &word, 1, &iov, 1), 0);
	assert_int_equal(mem.base.bytes_written, before + 64 + 24 + 4096);
	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 24), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_END, NULL, 0), 0);
	assert_int_equal(mem.base.bytes_written, before + 64 + 24 + 4096 + 40);
	assert_int_equal(xf_writer_position(w), mem.base.bytes_written);
}

/* The same bytes in the same order, gathered or not. */
static void test_gathered_bytes(void **state)
{
	uint8_t body[40], once[512];
	size_t size = 0;
	(void)state;

	for (size_t room = 0; room < 300; room += 7) {
		end(NULL);
		begin(NULL);
		assert_int_equal(room ? xf_writer_gather(w, room) : 0, 0);
		for (uint8_t i = 0; i < 5; i++) {
			memset(body, i + 1, sizeof(body));
			assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, body, 8 * (i + 1u)), 0);
		}
		assert_int_equal(xf_writer_blob(w, XF_REC_END, NULL, 0), 0);
		if (!room) {
			size = mem.size;
			assert_in_range(size, 150, sizeof(once));
			memcpy(once, mem.data, size);
		}
		assert_int_equal(mem.size, size);
		assert_memory_equal(mem.data, once, size);
	}
}

/* What waited can't go out: the call that would have it go says so. */
static void test_gathered_broken_pipe(void **state)
{
	uint64_t before = mem.base.bytes_written;
	(void)state;

	mem.write_limit = mem.size + 10;
	assert_int_equal(xf_writer_gather(w, 100), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, page, 24), 0);
	assert_int_equal(xf_writer_flush(w), -EPIPE);
	assert_non_null(strstr(xf_writer_error(w)->text, "Writing the records so far at byte"));
	assert_int_equal(mem.base.bytes_written, before + 10);
	assert_int_equal(xf_writer_flush(w), -EPIPE);
	refused(xf_writer_blob(w, XF_REC_END, NULL, 0), -EPIPE, "Broken pipe");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open), CASE(test_headers_twice), CASE(test_headers_missing),
		CASE(test_guest_type), CASE(test_order), CASE(test_after_end), CASE(test_unknown), CASE(test_length),
		CASE(test_too_long), CASE(test_page_counts), CASE(test_page_type),
		CASE(test_page_contents), CASE(test_broken_pipe),
		CASE(test_gathered), CASE(test_gathered_bytes), CASE(test_gathered_broken_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
