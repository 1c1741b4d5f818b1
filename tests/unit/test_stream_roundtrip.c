/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the writer writes is what the generator would, and the reader gets it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/limits.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "streamgen.h"

/* Reads all of a stream, each page where its word says; returns pages with data. */
static uint64_t read_all(struct xf_transport *t, enum xf_stream_kind kind, size_t pages_a_call)
{
	struct xf_stream_info info;
	struct xf_page_list list;
	struct xf_record rec;
	struct xf_reader *r;
	uint8_t expect[XF_PAGE_SIZE], *body, *pages;
	uint64_t total = 0;

	assert_int_equal(xf_reader_open(&r, t, kind), 0);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	assert_int_equal(info.xen_major, 4);
	assert_int_equal(info.xen_minor, 17);
	do {
		assert_int_equal(xf_reader_next(r, &rec), 0);
		if (rec.type != XF_REC_PAGE_DATA) {
			body = malloc(rec.length + 1);
			assert_int_equal(xf_reader_body(r, body, rec.length), 0);
			free(body);
			continue;
		}
		assert_int_equal(xf_reader_pages(r, &list), 0);
		pages = malloc((size_t)list.count * XF_PAGE_SIZE);
		for (size_t done = 0; done < list.with_data;) {
			size_t n = list.with_data - done;
			struct iovec iov;

			n = n > pages_a_call ? pages_a_call : n;
			iov = (struct iovec){ pages + done * XF_PAGE_SIZE, n * XF_PAGE_SIZE };
			assert_int_equal(xf_reader_page_data(r, &iov, 1), 0);
			done += n;
		}
		for (size_t i = 0, at = 0; i < list.count; i++) {
			if (!xf_page_type_has_data(xf_word_type(list.words[i])))
				continue;
			gen_fill(expect, xf_word_pfn(list.words[i]));
			assert_memory_equal(pages + at++ * XF_PAGE_SIZE, expect, XF_PAGE_SIZE);
		}
		free(pages);
		total += list.with_data;
	} while (rec.type != XF_REC_END);
	xf_reader_close(r);
	return total;
}

static void test_read_generated(void **state)
{
	static const size_t steps[] = { 0, 1, 7, 4096, 5000 };
	(void)state;

	for (uint32_t version = 2; version <= 3; version++) {
		struct gen g = { 0 }, pv = { 0 };

		gen_hvm(&g, version, 100);
		gen_pv(&pv, version);
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			struct xf_transport_mem t;

			xf_transport_mem_init(&t, g.data, g.size);
			t.step = steps[i];
			assert_int_equal(read_all(&t.base, XF_STREAM_PLAIN, 10), 100 - 14);
			assert_int_equal(t.base.bytes_read, g.size);
			xf_transport_mem_free(&t);
			xf_transport_mem_init(&t, pv.data, pv.size);
			t.step = steps[i];
			assert_int_equal(read_all(&t.base, XF_STREAM_PLAIN, 1), 2);
			xf_transport_mem_free(&t);
		}
		gen_free(&g);
		gen_free(&pv);
	}
}

/* The records of gen_hvm(version 3), through the writer. */
static void write_hvm(struct xf_transport *t, uint64_t pages)
{
	struct xf_tsc_info tsc = { .mode = 2, .khz = 2400000 };
	uint8_t context[100], cpuid[2 * XF_CPUID_LEAF_SIZE] = { 0 }, msr[XF_MSR_ENTRY_SIZE] = { 0 };
	struct xf_hvm_params head = { .count = 3 };
	struct xf_hvm_param entry[3];
	struct iovec params[] = { { &head, sizeof(head) }, { entry, sizeof(entry) } };
	uint8_t *memory = malloc(pages * XF_PAGE_SIZE);
	uint64_t words[64], pfn = 0;
	struct iovec iov[64];
	struct xf_writer *w;

	assert_int_equal(xf_writer_open(&w, t, 3, XF_STREAM_PLAIN), 0);
	assert_int_equal(xf_writer_headers(w, XF_GUEST_X86_HVM, 4, 17), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_X86_CPUID_POLICY, cpuid, sizeof(cpuid)), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_X86_MSR_POLICY, msr, sizeof(msr)), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_STATIC_DATA_END, NULL, 0), 0);
	while (pfn < pages) {
		uint32_t n = 0;
		size_t data = 0;

		for (; n < 64 && pfn < pages; n++, pfn++) {
			uint8_t *page = memory + pfn * XF_PAGE_SIZE;

			words[n] = xf_page_word(pfn, pfn % 7 == 5 ? XF_PAGE_XALLOC : XF_PAGE_NOTAB);
			gen_fill(page, pfn);
			if (pfn % 7 != 5)
				iov[data++] = (struct iovec){ page, XF_PAGE_SIZE };
		}
		assert_int_equal(xf_writer_pages(w, words, n, iov, data), 0);
	}
	memset(context, 0xc5, sizeof(context));
	for (size_t i = 0; i < 3; i++)
		entry[i] = (struct xf_hvm_param){ i + 1, 0xfeff8 + i };
	assert_int_equal(xf_writer_blob(w, XF_REC_X86_TSC_INFO, &tsc, sizeof(tsc)), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_HVM_CONTEXT, context, sizeof(context)), 0);
	assert_int_equal(xf_writer_record(w, XF_REC_HVM_PARAMS, params, 2), 0);
	assert_int_equal(xf_writer_blob(w, XF_REC_END, NULL, 0), 0);
	assert_string_equal(xf_writer_error(w)->text, "");
	xf_writer_close(w);
	free(memory);
}

static void test_write_as_generated(void **state)
{
	static const size_t steps[] = { 0, 1, 13, 4097 };
	struct gen g = { 0 };
	(void)state;

	gen_hvm(&g, 3, 100);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct xf_transport_mem t;

		xf_transport_mem_init(&t, NULL, 0);
		t.step = steps[i];
		write_hvm(&t.base, 100);
		assert_int_equal(t.size, g.size);
		assert_int_equal(t.base.bytes_written, g.size);
		assert_memory_equal(t.data, g.data, g.size);
		xf_transport_mem_free(&t);
	}
	gen_free(&g);
}

/* More pages than one vectored write takes, each in a place of its own. */
static void test_many_pieces(void **state)
{
	enum { PAGES = 3000 };
	uint64_t *words = malloc(PAGES * sizeof(*words));
	struct iovec *iov = malloc(PAGES * sizeof(*iov));
	uint8_t *memory = malloc((size_t)2 * PAGES * XF_PAGE_SIZE);
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_page_list list;
	struct xf_record rec;
	struct xf_writer *w;
	struct xf_reader *r;
	(void)state;

	for (size_t i = 0; i < PAGES; i++) {
		words[i] = xf_page_word(i, XF_PAGE_NOTAB);
		iov[i] = (struct iovec){ memory + 2 * i * XF_PAGE_SIZE, XF_PAGE_SIZE };
		gen_fill(iov[i].iov_base, i);
	}
	xf_transport_mem_init(&t, NULL, 0);
	xf_writer_open(&w, &t.base, 2, XF_STREAM_PLAIN);
	xf_writer_headers(w, XF_GUEST_X86_HVM, 4, 17);
	assert_int_equal(xf_writer_pages(w, words, PAGES, iov, PAGES), 0);
	xf_writer_close(w);

	memset(memory, 0xee, (size_t)2 * PAGES * XF_PAGE_SIZE);
	xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	assert_int_equal(xf_reader_next(r, &rec), 0);
	assert_int_equal(xf_reader_pages(r, &list), 0);
	assert_int_equal(xf_reader_page_data(r, iov, PAGES), 0);
	for (size_t i = 0; i < PAGES; i++) {
		uint8_t expect[XF_PAGE_SIZE];

		gen_fill(expect, i);
		assert_memory_equal(iov[i].iov_base, expect, XF_PAGE_SIZE);
		assert_int_equal(memory[(2 * i + 1) * XF_PAGE_SIZE], 0xee);
	}
	xf_reader_close(r);
	xf_transport_mem_free(&t);
	free(words);
	free(iov);
	free(memory);
}

/* Contents that nobody read, and optional records, don't throw the reader off. */
static void test_drop(void **state)
{
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_page_list list;
	struct xf_record rec;
	struct xf_reader *r;
	struct gen g = { 0 };
	unsigned skipped = 0, records = 0;
	(void)state;

	gen_hvm_before_pages(&g, 3);
	gen_record(&g, XF_RECORD_OPTIONAL | 0x77, "surprise", 5);
	gen_pages(&g, (uint64_t[]){ 1, 2, 3 }, 3);
	gen_record(&g, XF_RECORD_OPTIONAL, NULL, 200000);
	gen_hvm_after_pages(&g);
	xf_transport_mem_init(&t, g.data, g.size);
	xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	do {
		assert_int_equal(xf_reader_next(r, &rec), 0);
		records++;
		skipped += (unsigned)rec.skip;
		assert_int_equal(rec.number, records);
		if (rec.type == XF_REC_PAGE_DATA) {
			uint8_t page[XF_PAGE_SIZE];
			struct iovec iov = { page, sizeof(page) };

			assert_int_equal(xf_reader_pages(r, &list), 0);
			assert_int_equal(xf_reader_page_data(r, &iov, 1), 0);
		}
	} while (rec.type != XF_REC_END);
	assert_int_equal(skipped, 2);
	assert_int_equal(records, 10);
	xf_reader_close(r);
	xf_transport_mem_free(&t);
	gen_free(&g);
}

static void test_checkpointed(void **state)
{
	struct xf_transport_mem t;
	struct gen g = { 0 };
	(void)state;

	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, (uint64_t[]){ 1 }, 1);
	gen_record(&g, XF_REC_HVM_CONTEXT, "ctx", 3);
	gen_record(&g, XF_REC_CHECKPOINT, NULL, 0);
	gen_pages(&g, (uint64_t[]){ 1 }, 1);
	gen_hvm_after_pages(&g);
	xf_transport_mem_init(&t, g.data, g.size);
	assert_int_equal(read_all(&t.base, XF_STREAM_CHECKPOINTED, 1), 2);
	xf_transport_mem_free(&t);
	gen_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_generated),
		cmocka_unit_test(test_write_as_generated),
		cmocka_unit_test(test_many_pieces),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_checkpointed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
