/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bad streams: each is refused by the reader with what was found and expected,
 * and by `xenferry inspect` with the same sentence, exit status 1 and no
 * sanitizer report. XENFERRY names the command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/inspect.h"
#include "stream/limits.h"
#include "stream/reader.h"
#include "streamgen.h"

/* What a test makes; empty at its begin. */
static struct gen bad;

/* Everything a restore would read; the first error. The sentence goes to text. */
static int read_stream(const struct gen *g, enum xf_stream_kind kind, uint64_t pfn_limit,
		       char text[XF_ERROR_TEXT])
{
	static uint8_t page[XF_PAGE_SIZE];
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_page_list list;
	struct xf_record rec;
	struct xf_reader *r;
	uint8_t *body;
	int ret;

	xf_transport_mem_init(&t, g->data, g->size);
	assert_int_equal(xf_reader_open(&r, &t.base, kind), 0);
	if (pfn_limit)
		assert_int_equal(xf_reader_set_pfn_limit(r, pfn_limit), 0);
	ret = xf_reader_headers(r, &info);
	while (!ret) {
		ret = xf_reader_next(r, &rec);
		if (ret)
			break;
		if (rec.type == XF_REC_PAGE_DATA) {
			ret = xf_reader_pages(r, &list);
			for (uint32_t i = 0; !ret && i < list.with_data; i++)
				ret = xf_reader_page_data(r, &(struct iovec){ page, sizeof(page) }, 1);
		} else if (!rec.skip) {
			assert_true(rec.length <= XF_BODY_MAX);
			body = malloc(rec.length + 1);
			ret = xf_reader_body(r, body, rec.length);
			free(body);
		}
		if (rec.type == XF_REC_END)
			break;
	}
	memcpy(text, xf_reader_error(r)->text, XF_ERROR_TEXT);
	assert_int_equal(xf_reader_error(r)->code, ret);
	xf_reader_close(r);
	xf_transport_mem_free(&t);
	return ret;
}

/* Runs the command on the stream; its stderr to text. The exit status, or 1000 + signal. */
static int run_inspect(const struct gen *g, char text[2048])
{
	const char *command = getenv("XENFERRY");
	char in[] = "/tmp/streamXXXXXX";
	int fd = mkstemp(in), err[2], status;
	size_t have = 0;
	ssize_t n;
	pid_t pid;

	assert_non_null(command);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, g->data, g->size), g->size);
	close(fd);
	assert_int_equal(pipe(err), 0);
	pid = fork();
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), 1);
		dup2(err[1], 2);
		close(err[0]);
		close(err[1]);
		execl(command, command, "inspect", in, NULL);
		_exit(127);
	}
	close(err[1]);
	while (have < 2047 && (n = read(err[0], text + have, 2047 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
	close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(in);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Refused by both, with `found` and `expected` in the sentence. */
static void refused_as(struct gen *g, int code, const char *found, const char *expected)
{
	char text[XF_ERROR_TEXT], err[2048];

	assert_int_equal(read_stream(g, XF_STREAM_PLAIN, 0, text), code);
	if (!strstr(text, found) || !strstr(text, expected))
		fail_msg("\"%s\" lacks \"%s\" or \"%s\"", text, found, expected);
	assert_int_equal(text[strlen(text) - 1], '.');
	assert_int_equal(run_inspect(g, err), 1);
	assert_null(strstr(err, "Sanitizer"));
	assert_null(strstr(err, "runtime error"));
	if (!strstr(err, found) || !strstr(err, expected))
		fail_msg("inspect's \"%s\" lacks \"%s\" or \"%s\"", err, found, expected);
	gen_free(g);
}

static void refused(struct gen *g, const char *found, const char *expected)
{
	refused_as(g, -EPROTO, found, expected);
}

/* ---- headers ------------------------------------------------------------- */

static void test_headers(void **state)
{
	(void)state;

	gen_image(&bad, XF_IMAGE_MARKER, 0x4c494e55, 3, 0);
	refused(&bad, "found id 0x4c494e55", "expected 0x58454e46");
	gen_image(&bad, XF_IMAGE_MARKER, XF_IMAGE_ID, 1, 0);
	refused(&bad, "found version 1", "expected 2 or 3");
	gen_image(&bad, XF_IMAGE_MARKER, XF_IMAGE_ID, 4, 0);
	refused(&bad, "found version 4", "expected 2 or 3");
	gen_image(&bad, XF_IMAGE_MARKER, XF_IMAGE_ID, 3, XF_IMAGE_BIG_ENDIAN);
	refused(&bad, "found options 0x0001 (big-endian)", "expected a little-endian stream");
	gen_image(&bad, XF_IMAGE_MARKER, XF_IMAGE_ID, 3, 0);
	gen_domain(&bad, 3, 12);
	refused(&bad, "found guest type 3", "expected 1 (PV) or 2 (HVM)");
	gen_image(&bad, XF_IMAGE_MARKER, XF_IMAGE_ID, 3, 0);
	gen_domain(&bad, XF_GUEST_X86_HVM, 14);
	refused(&bad, "found a page shift of 14", "expected 12");
}

/* A bad marker is no libxc stream to inspect, which then says what it can read. */
static void test_marker(void **state)
{
	char text[XF_ERROR_TEXT], err[2048];
	(void)state;

	gen_image(&bad, UINT64_C(0xfffffffffffffffe), XF_IMAGE_ID, 3, 0);
	assert_int_equal(read_stream(&bad, XF_STREAM_PLAIN, 0, text), -EPROTO);
	assert_non_null(strstr(text, "Image header at byte 0: found marker 0xfffffffffffffffe,"
			       " expected 0xffffffffffffffff"));
	assert_int_equal(run_inspect(&bad, err), 1);
	assert_non_null(strstr(err, "found a file that starts with ff ff ff ff ff ff ff fe, expected"));
}

/* ---- cut ------------------------------------------------------------------ */

/* Small: one page and all records. */
static void small(struct gen *g)
{
	uint64_t words[] = { htole64(4), htole64(xf_page_word(9, XF_PAGE_XALLOC)) };

	gen_hvm_before_pages(g, 3);
	gen_pages(g, words, 2);
	gen_hvm_after_pages(g);
}

static void test_cut_everywhere(void **state)
{
	char text[XF_ERROR_TEXT];
	size_t whole;
	(void)state;

	small(&bad);
	whole = bad.size;
	assert_int_equal(read_stream(&bad, XF_STREAM_PLAIN, 0, text), 0);
	for (bad.size = 0; bad.size < whole; bad.size++) {
		if (read_stream(&bad, XF_STREAM_PLAIN, 0, text) != -ENODATA)
			fail_msg("cut at %zu: \"%s\"", bad.size, text);
		assert_non_null(strstr(text, "The stream ends in"));
		assert_non_null(strstr(text, "found"));
		assert_non_null(strstr(text, "expected"));
	}
}

/* The command, at each boundary and in the middle between two. */
static void test_cut_inspected(void **state)
{
	char err[2048];
	(void)state;

	small(&bad);
	for (size_t i = 0, last = 0; i + 1 < bad.n_bounds; last = bad.bounds[i++]) {
		const size_t at[] = { (last + bad.bounds[i]) / 2, bad.bounds[i] };

		for (size_t k = 0; k < 2; k++) {
			bad.size = at[k];
			assert_int_equal(run_inspect(&bad, err), 1);
			assert_null(strstr(err, "Sanitizer"));
			assert_non_null(strstr(err, " ends in "));
		}
	}
}

/* A save file's own headers, the configuration and the libxl records, byte by byte. */
static void ignore_item(void *ctx, const struct xf_inspect_item *item)
{
	(void)ctx;
	(void)item;
}

static void test_cut_save_file(void **state)
{
	const struct xf_inspect_sink sink = { .item = ignore_item };
	struct xf_inspect_summary sum;
	(void)state;

	gen_xl(&bad, 3, 2);
	for (size_t cut = 0; cut <= bad.size; cut++) {
		struct xf_error e = { 0 };
		struct xf_transport_mem t;
		int ret;

		xf_transport_mem_init(&t, bad.data, cut);
		ret = xf_inspect(&t.base, &sink, &sum, &e);
		assert_int_equal(ret, cut < bad.size ? -ENODATA : 0);
		assert_int_equal(e.code, ret);
		assert_int_equal(sum.bytes, cut < 8 ? 0 : cut);
		if (ret)
			assert_non_null(strstr(e.text, " ends in "));
		xf_transport_mem_free(&t);
	}
}

/* ---- records --------------------------------------------------------------- */

static void test_types(void **state)
{
	char text[XF_ERROR_TEXT], err[2048];
	(void)state;

	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, 0x13, NULL, 8);
	refused(&bad, "found the mandatory type 0x00000013", "expected one of those known (0x0 to 0x12)");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, 0x7fffffff, NULL, 0);
	refused(&bad, "Record 4 (unknown mandatory) at byte 128: found the mandatory type 0x7fffffff",
		"expected one of those known");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_TOOLSTACK, NULL, 8);
	refused(&bad, "found a record that no release of Xen writes", "expected a toolstack's data");

	/* Unknown and optional: ignored. */
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_RECORD_OPTIONAL | 0x13, "x", 1);
	gen_hvm_after_pages(&bad);
	assert_int_equal(read_stream(&bad, XF_STREAM_PLAIN, 0, text), 0);
	assert_int_equal(run_inspect(&bad, err), 0);
	assert_string_equal(err, "");
}

static void test_lengths(void **state)
{
	(void)state;

	gen_hvm_before_pages(&bad, 3);
	gen_record_claim(&bad, XF_REC_PAGE_DATA, XF_RECORD_LENGTH_MAX + 1, NULL, 64);
	refused(&bad, "found a length of 134217729 bytes", "expected at most 134217728");
	gen_hvm_before_pages(&bad, 3);
	gen_record_claim(&bad, XF_RECORD_OPTIONAL, 0xffffffff, NULL, 64);
	refused(&bad, "found a length of 4294967295 bytes", "expected at most 134217728");
	gen_hvm_before_pages(&bad, 3);
	gen_record_claim(&bad, XF_REC_HVM_CONTEXT, XF_BODY_MAX + 1, NULL, 64);
	refused(&bad, "found a length of 16777217 bytes", "expected at most 16777216");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_X86_TSC_INFO, NULL, 23);
	refused(&bad, "found a length of 23 bytes", "expected 24");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_HVM_CONTEXT, NULL, 0);
	refused(&bad, "found a length of 0 bytes", "expected at least 1");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_HVM_PARAMS, NULL, 12);
	refused(&bad, "found a length of 12 bytes", "expected 8 and a multiple of 16");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_VERIFY, NULL, 8);
	refused(&bad, "found a length of 8 bytes", "expected 0");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_PAGE_DATA, NULL, 8);
	refused(&bad, "found a length of 8 bytes", "expected at least 16");
}

static void test_pages(void **state)
{
	const uint64_t good = htole64(5), far = htole64(XF_PFN_LIMIT);
	const uint64_t reserved = htole64(xf_page_word(6, XF_PAGE_PINNED));
	char text[XF_ERROR_TEXT];
	(void)state;

	gen_hvm_before_pages(&bad, 3);
	gen_pages(&bad, &far, 1);
	refused(&bad, "found pfn 0x10000000000 (entry 0)", "expected one below 0x10000000000");
	gen_hvm_before_pages(&bad, 3);
	gen_pages(&bad, &reserved, 1);
	refused(&bad, "found page type 0x8 for pfn 0x6 (entry 0)", "expected 0x0 to 0x4 or 0x9 to 0xf");
	gen_hvm_before_pages(&bad, 3);
	gen_pages_claim(&bad, 0, &good, 1, 1);
	refused(&bad, "found a count of 0 pages", "expected 1 to 65536");
	gen_hvm_before_pages(&bad, 3);
	gen_pages_claim(&bad, 0xffffffff, &good, 1, 1);
	refused(&bad, "found a count of 4294967295 pages", "expected 1 to 65536");
	gen_hvm_before_pages(&bad, 3);
	gen_pages_claim(&bad, 2, &good, 1, 0);
	refused(&bad, "found a count of 2 pages in 16 bytes", "expected at least 24 bytes");
	gen_hvm_before_pages(&bad, 3);
	gen_pages_claim(&bad, 1, &good, 1, 2);
	refused(&bad, "found 8192 bytes of contents", "expected 4096 for 1 pages");
	gen_hvm_before_pages(&bad, 3);
	gen_pages_claim(&bad, 1, &good, 1, 0);
	refused(&bad, "found 0 bytes of contents", "expected 4096");

	/* The limit the engine sets: the guest's own. */
	gen_hvm_before_pages(&bad, 3);
	gen_pages(&bad, &good, 1);
	assert_int_equal(read_stream(&bad, XF_STREAM_PLAIN, 5, text), -EPROTO);
	assert_non_null(strstr(text, "found pfn 0x5 (entry 0), expected one below 0x5"));
}

static void test_order(void **state)
{
	const uint64_t one = htole64(1);
	(void)state;

	gen_headers(&bad, 3, XF_GUEST_X86_HVM);
	gen_pages(&bad, &one, 1);
	refused(&bad, "Record 1 (PAGE_DATA) at byte 40: found it before any STATIC_DATA_END",
		"expected STATIC_DATA_END first");
	gen_headers(&bad, 3, XF_GUEST_X86_HVM);
	gen_record(&bad, XF_REC_HVM_CONTEXT, NULL, 8);
	refused(&bad, "found it before any STATIC_DATA_END", "expected STATIC_DATA_END first");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_STATIC_DATA_END, NULL, 0);
	refused(&bad, "found it a second time", "expected it once");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_X86_MSR_POLICY, NULL, XF_MSR_ENTRY_SIZE);
	refused(&bad, "found it after STATIC_DATA_END", "expected it before");
	gen_headers(&bad, 2, XF_GUEST_X86_HVM);
	gen_record(&bad, XF_REC_STATIC_DATA_END, NULL, 0);
	refused(&bad, "found it in a stream of version 2", "expected it only from version 3 on");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_CHECKPOINT, NULL, 0);
	refused(&bad, "found a checkpoint in a plain stream", "expected them only in Remus and COLO");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_CHECKPOINT_DIRTY_PFN_LIST, NULL, 8);
	refused(&bad, "found it on the way to the receiver", "expected it only on the way back");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_END, NULL, 0);
	refused(&bad, "found it before any HVM_CONTEXT", "expected HVM_CONTEXT first");
	gen_hvm_before_pages(&bad, 3);
	gen_record(&bad, XF_REC_SHARED_INFO, NULL, XF_PAGE_SIZE);
	refused(&bad, "found it in the stream of an x86 HVM guest", "expected it only for an x86 PV guest");
	gen_headers(&bad, 2, XF_GUEST_X86_PV);
	gen_record(&bad, XF_REC_HVM_PARAMS, NULL, 8);
	refused(&bad, "found it in the stream of an x86 PV guest", "expected it only for an x86 HVM guest");
	gen_headers(&bad, 2, XF_GUEST_X86_PV);
	gen_pages(&bad, &one, 1);
	refused(&bad, "found it before any X86_PV_INFO", "expected X86_PV_INFO first");
}

static void pv_info(struct gen *g, uint8_t width, uint8_t levels)
{
	struct xf_pv_info info = { .guest_width = width, .pt_levels = levels };

	gen_headers(g, 2, XF_GUEST_X86_PV);
	gen_record(g, XF_REC_X86_PV_INFO, &info, sizeof(info));
}

static void pv_frames(struct gen *g, uint32_t start, uint32_t end, size_t frames)
{
	struct {
		struct xf_pv_p2m_frames head;
		uint64_t frame[4];
	} p = { .head = { htole32(start), htole32(end) } };

	pv_info(g, 8, 4);
	gen_record(g, XF_REC_X86_PV_P2M_FRAMES, &p, sizeof(p.head) + 8 * frames);
}

static void test_counts(void **state)
{
	const uint64_t one = htole64(1);
	(void)state;

	gen_hvm_before_pages(&bad, 3);
	gen_hvm_params(&bad, 4, 3);
	refused(&bad, "found a count of 4 parameters", "expected 3 as the length says");
	gen_hvm_before_pages(&bad, 3);
	gen_hvm_params(&bad, 0xffffffff, 0);
	refused(&bad, "found a count of 4294967295 parameters", "expected 0 as the length says");
	pv_info(&bad, 8, 3);
	refused(&bad, "found width 8 with 3 levels", "expected 4 with 3 or 8 with 4");
	pv_frames(&bad, 9, 8, 1);
	refused(&bad, "found pfns from 0x9 to 0x8", "expected the first to be below the last");
	pv_frames(&bad, 0, 1500, 4);
	refused(&bad, "found 4 frames for pfns 0x0 to 0x5dc", "expected 3, or 2 for a 32-bit guest");
	pv_info(&bad, 4, 3);
	gen_pages(&bad, &one, 1);
	refused(&bad, "found it before any X86_PV_P2M_FRAMES", "expected X86_PV_P2M_FRAMES first");
}

/* The reader goes no further than END: what follows is somebody else's. */
static void test_after_end(void **state)
{
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_record rec;
	struct xf_reader *r;
	(void)state;

	gen_hvm_before_pages(&bad, 3);
	gen_hvm_after_pages(&bad);
	gen_bytes(&bad, "more", 4);
	xf_transport_mem_init(&t, bad.data, bad.size);
	xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	do
		assert_int_equal(xf_reader_next(r, &rec), 0);
	while (rec.type != XF_REC_END);
	assert_int_equal(t.base.bytes_read, bad.size - 4);
	assert_int_equal(xf_reader_next(r, &rec), -EINVAL);
	assert_non_null(strstr(xf_reader_error(r)->text, "asked for a record after END, expected"));
	assert_int_equal(t.base.bytes_read, bad.size - 4);
	xf_reader_close(r);
	xf_transport_mem_free(&t);
}

/* After an error the reader stays with it, and tells a misuse apart. */
static void test_reader_state(void **state)
{
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_page_list list;
	struct xf_record rec;
	struct xf_reader *r;
	uint8_t byte[8];
	(void)state;

	gen_headers(&bad, 3, XF_GUEST_X86_HVM);
	gen_record(&bad, XF_REC_HVM_CONTEXT, NULL, 8);
	gen_record(&bad, XF_REC_STATIC_DATA_END, NULL, 0);
	xf_transport_mem_init(&t, bad.data, bad.size);
	xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
	assert_int_equal(xf_reader_set_pfn_limit(r, 0), -EINVAL);
	assert_int_equal(xf_reader_set_pfn_limit(r, XF_PFN_LIMIT + 1), -EINVAL);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(xf_reader_next(r, &rec), -EPROTO);
	assert_int_equal(xf_reader_headers(r, &info), -EPROTO);
	assert_int_equal(xf_reader_body(r, byte, 8), -EPROTO);
	assert_int_equal(xf_reader_pages(r, &list), -EPROTO);
	assert_int_equal(xf_reader_page_data(r, NULL, 0), -EPROTO);
	xf_reader_close(r);
	xf_transport_mem_free(&t);

	xf_transport_mem_init(&t, bad.data, bad.size);
	xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
	assert_int_equal(xf_reader_next(r, &rec), -EINVAL);
	assert_non_null(strstr(xf_reader_error(r)->text, "a record before the headers"));
	xf_reader_close(r);
	xf_transport_mem_free(&t);

	xf_transport_mem_init(&t, bad.data, bad.size);
	xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
	assert_int_equal(xf_reader_headers(r, &info), 0);
	assert_int_equal(xf_reader_headers(r, &info), -EINVAL);
	assert_non_null(strstr(xf_reader_error(r)->text, "the headers twice"));
	xf_reader_close(r);
	xf_transport_mem_free(&t);
}

static void test_misuse_of_pages(void **state)
{
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_page_list list;
	struct xf_record rec;
	struct xf_reader *r;
	static uint8_t page[2 * XF_PAGE_SIZE];
	const struct iovec too_much = { page, sizeof(page) }, part = { page, 100 };
	(void)state;

	small(&bad);
	for (int mistake = 0; mistake < 5; mistake++) {
		xf_transport_mem_init(&t, bad.data, bad.size);
		xf_reader_open(&r, &t.base, XF_STREAM_PLAIN);
		xf_reader_headers(r, &info);
		do
			assert_int_equal(xf_reader_next(r, &rec), 0);
		while (rec.type != XF_REC_PAGE_DATA);
		if (mistake == 0)
			assert_int_equal(xf_reader_body(r, page, sizeof(page)), -EINVAL);
		if (mistake == 1)
			assert_int_equal(xf_reader_page_data(r, &too_much, 1), -EINVAL);
		if (mistake >= 2)
			assert_int_equal(xf_reader_pages(r, &list), 0);
		if (mistake == 2)
			assert_int_equal(xf_reader_page_data(r, &too_much, 1), -EINVAL);
		if (mistake == 3)
			assert_int_equal(xf_reader_page_data(r, &part, 1), -EINVAL);
		if (mistake == 4)
			assert_int_equal(xf_reader_pages(r, &list), -EINVAL);
		assert_non_null(strstr(xf_reader_error(r)->text, "fault in the program"));
		xf_reader_close(r);
		xf_transport_mem_free(&t);
	}
}

static int fresh(void **state)
{
	(void)state;
	bad = (struct gen){ 0 };
	return 0;
}

static int release(void **state)
{
	(void)state;
	gen_free(&bad);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_headers),
		TEST(test_marker),
		TEST(test_cut_everywhere),
		TEST(test_cut_inspected),
		TEST(test_cut_save_file),
		TEST(test_types),
		TEST(test_lengths),
		TEST(test_pages),
		TEST(test_order),
		TEST(test_counts),
		TEST(test_after_end),
		TEST(test_reader_state),
		TEST(test_misuse_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
