/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of xenferry itself and of xenferry inspect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runcmd.h"
#include "streamgen.h"

static struct ran r;

static void save(const struct gen *g, char name[32])
{
	int fd;

	strcpy(name, "/tmp/inspectXXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, g->data, g->size), g->size);
	close(fd);
}

static void test_main(void **state)
{
	(void)state;
	RUN(&r, "--version");
	assert_ran(&r, 0, "xenferry " XENFERRY_VERSION "\n", "");
	RUN(&r, "--help");
	assert_ran(&r, 0, "migrate", "");
	assert_ran(&r, 0, "inspect", "");
	run_command(&r, (const char *const[]){ NULL });
	assert_ran(&r, 2, "", "usage: xenferry");
	RUN(&r, "sail");
	assert_ran(&r, 2, "", "found \"sail\", expected a command (migrate, dirty-rate, report, inspect,");
	RUN(&r, "help", "sail");
	assert_ran(&r, 2, "", "found \"sail\"");
	RUN(&r, "help", "inspect");
	assert_ran(&r, 0, "usage: xenferry inspect", "");
}

static void test_usage(void **state)
{
	(void)state;
	RUN(&r, "inspect", "--help");
	assert_ran(&r, 0, "exit status: 0 the stream is fine, 1 it is refused", "");
	RUN(&r, "inspect");
	assert_ran(&r, 2, "", "found 0 file names, expected one; see \"xenferry inspect --help\".");
	RUN(&r, "inspect", "a", "b");
	assert_ran(&r, 2, "", "found 2 file names");
	RUN(&r, "inspect", "--frob", "a");
	assert_ran(&r, 2, "", "found \"--frob\", expected one of the options");
	RUN(&r, "inspect", "-x", "a");
	assert_ran(&r, 2, "", "found option \"-x\"");
	RUN(&r, "inspect", "-j", "-q", "a");
	assert_ran(&r, 2, "", "found --json with --quiet");
}

static void test_cannot_read(void **state)
{
	(void)state;
	RUN(&r, "inspect", "/nonexistent/file");
	assert_ran(&r, 3, "", "Opening \"/nonexistent/file\" failed (No such file or directory): expected");
	RUN(&r, "inspect", "/tmp");
	assert_ran(&r, 3, "", "Found a directory under \"/tmp\", expected a saved stream");
	RUN(&r, "inspect", "/proc/self/mem");	/* EIO at address 0 */
	assert_ran(&r, 3, "", "Reading the file failed (Input/output error): expected");
}

static void test_text(void **state)
{
	struct gen g = { 0 };
	char name[32];
	(void)state;

	gen_xl(&g, 3, 300);
	save(&g, name);
	RUN(&r, "inspect", name);
	assert_ran(&r, 0, "pvh guest \"guest\"", "");
	assert_ran(&r, 0, "x86 HVM guest, saved under Xen 4.17", "");
	assert_ran(&r, 0, "4-8         PAGE_DATA", "");
	assert_ran(&r, 0, "300 pages, 257 with contents, 64 of them zero", "");
	assert_ran(&r, 0, "Types: NOTAB 257 XALLOC 43\n", "");
	assert_ran(&r, 0, "EMULATOR_XENSTORE_DATA", "");
	assert_ran(&r, 0, "Nothing wrong was found.", "");
	RUN(&r, "inspect", "--all", name);
	assert_ran(&r, 0, "64 pages, 55 with contents", "");
	assert_null(strstr(r.out, "4-8"));
	RUN(&r, "inspect", "-q", name);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out, "");
	assert_string_equal(r.err, "");
	unlink(name);
	gen_free(&g);
}

static int64_t number(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_get_int64(v);
}

static void test_json(void **state)
{
	struct json_object *all, *sum, *records;
	struct gen g = { 0 };
	char name[32];
	(void)state;

	gen_xl(&g, 3, 300);
	save(&g, name);
	RUN(&r, "inspect", "--json", name);
	assert_ran(&r, 0, "\"result\": \"ok\"", "");
	all = json_tokener_parse(r.out);
	assert_non_null(all);
	assert_true(json_object_object_get_ex(all, "records", &records));
	assert_int_equal(json_object_array_length(records), 4 + 14 + 3);
	assert_true(json_object_object_get_ex(all, "summary", &sum));
	assert_int_equal(number(sum, "pages"), 300);
	assert_int_equal(number(sum, "zero"), 64);
	assert_int_equal(number(sum, "max_pfn"), 299);
	assert_int_equal(number(sum, "bytes"), (int64_t)g.size);
	json_object_put(all);
	assert_int_equal(truncate(name, 5000), 0);
	RUN(&r, "inspect", "--json", name);
	assert_ran(&r, 1, "\"result\": \"refused\"", "The stream ends in record 4 (PAGE_DATA)");
	all = json_tokener_parse(r.out);
	assert_non_null(all);
	assert_non_null(strstr(json_object_get_string(json_object_object_get(all, "error")), "found"));
	json_object_put(all);
	unlink(name);
	gen_free(&g);
}

static void test_stdin(void **state)
{
	struct running_command c;
	struct gen g = { 0 };
	int in[2];
	pid_t feeder;
	(void)state;

	gen_pv(&g, 2);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	feeder = fork();
	if (!feeder)
		_exit(write(in[1], g.data, g.size) != (ssize_t)g.size);
	close(in[1]);
	run_begin(&c, (const char *const[]){ "inspect", "-", NULL }, in[0], 0);
	close(in[0]);
	run_end(&c, &r);
	waitpid(feeder, NULL, 0);
	assert_ran(&r, 0, "x86 PV guest", "");
	assert_ran(&r, 0, "64-bit guest, 4 levels of page tables", "");
	assert_ran(&r, 0, "pfns 0x0 to 0x258", "");
	assert_ran(&r, 0, "Types: L1TAB 1 L4TAB_PIN 1 BROKEN 1 XTAB 1\n", "");
	gen_free(&g);
}

static void test_verify_pass(void **state)
{
	const uint64_t words[] = { 1, 2, 3 };
	struct gen g = { 0 };
	char name[32];
	(void)state;

	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, words, 3);
	gen_record(&g, XF_REC_VERIFY, NULL, 0);
	gen_pages(&g, words, 2);
	gen_hvm_after_pages(&g);
	save(&g, name);
	RUN(&r, "inspect", name);
	assert_ran(&r, 0, "Verify pass: 2 pages.", "");
	assert_ran(&r, 0, "Pages: 3 in 2 records", "");
	unlink(name);
	gen_free(&g);
}

/* ---- xl's and libxl's part of a file that was tampered with ---------------- */

static void refused(struct gen *g, const char *sentence)
{
	char name[32];

	save(g, name);
	RUN(&r, "inspect", name);
	unlink(name);
	assert_ran(&r, 1, "", sentence);
	gen_free(g);
}

static void tampered(size_t at, uint8_t value, const char *sentence)
{
	struct gen g = { 0 };

	gen_xl(&g, 3, 3);
	assert_int_not_equal(g.data[at], value);
	g.data[at] = value;
	refused(&g, sentence);
}

static void test_savefile(void **state)
{
	(void)state;
	tampered(0, 'x', "found a file that starts with 78 65 6e 20 73 61 76 65, expected \"Xen save\"");
	tampered(20, 'X', "found another magic than \"Xen saved domain, xl format\"");
	tampered(32, 1, "found byte order mark 0x01020301, expected 0x01020304");
	tampered(36, 7, "found mandatory flags 0x7, expected none but 0x3");
	tampered(36, 1, "found a legacy stream (mandatory flags 0x1)");
	tampered(44, 3, "found 3 bytes of optional data, expected none or at least 4");
	tampered(48, 42, "found a length of 42 bytes, expected at most 41");
	tampered(52, '[', "that are no JSON object");
}

/* Bytes 93 to 109: the libxl header; then the LIBXC_CONTEXT record. */
static void test_libxl(void **state)
{
	(void)state;
	tampered(93, 'l', "found ident 0x6c6962786c466d74, expected 0x4c6962786c466d74 (LibxlFmt)");
	tampered(104, 3, "found version 3, expected 2");
	tampered(108, 1, "found options 0x1 (big-endian), expected a little-endian stream");
	tampered(113, 8, "Libxl record 1 (LIBXC_CONTEXT) at byte 109: found a length of 8 bytes, expected 0");
	tampered(109, 0, "found the end with no LIBXC_CONTEXT before it");
	tampered(109, 4, "found it in a saved stream, expected it only between the hosts");
	tampered(109, 9, "found the mandatory type 0x00000009, expected one of those known (0x0 to 0x5)");
}

static void libxl_start(struct gen *g)
{
	gen_libxl_header(g, XF_LIBXL_IDENT, XF_LIBXL_VERSION, 0);
	gen_record(g, XF_LIBXL_LIBXC_CONTEXT, NULL, 0);
	gen_hvm(g, 3, 2);
}

static void test_libxl_records(void **state)
{
	struct gen g = { 0 };
	(void)state;

	libxl_start(&g);
	gen_record(&g, XF_LIBXL_LIBXC_CONTEXT, NULL, 0);
	refused(&g, "Libxl record 2 (LIBXC_CONTEXT)");
	libxl_start(&g);
	gen_record(&g, XF_LIBXL_XENSTORE_DATA, NULL, 4);
	refused(&g, "found a length of 4 bytes, expected at least 8");
	libxl_start(&g);
	gen_record(&g, XF_LIBXL_XENSTORE_DATA, "\2\0\0\0\0\0\0\0key\0value", 17);
	refused(&g, "found 1 strings and an open one, expected pairs that end with NUL");
	libxl_start(&g);
	gen_record(&g, XF_LIBXL_EMULATOR_CONTEXT, "\3\0\0\0\0\0\0\0", 8);
	refused(&g, "found emulator id 3, expected 0 to 2");
	libxl_start(&g);
	gen_record(&g, XF_LIBXL_END, NULL, 0);
	gen_bytes(&g, "!", 1);
	refused(&g, "found byte 0x21, expected the end of the file");
	libxl_start(&g);
	gen_record(&g, XF_RECORD_OPTIONAL | 1, "?", 1);
	gen_record(&g, XF_LIBXL_END, NULL, 0);
	{
		char name[32];

		save(&g, name);
		RUN(&r, "inspect", name);
		unlink(name);
		assert_ran(&r, 0, "type 0x80000001, ignored by readers", "");
		assert_ran(&r, 0, "Unknown optional records: 1.", "");
	}
	gen_free(&g);
}

/* On a terminal how far it is, taken off again before a line and at the end. */
static void test_bar(void **state)
{
	struct gen g = { 0 };
	char name[32], line[512];
	FILE *screen;
	size_t n;
	(void)state;

	gen_hvm(&g, 3, 1000);
	save(&g, name);
	snprintf(line, sizeof(line), "script -qec 'cat %s | %s inspect -' /dev/null </dev/null", name,
		 getenv("XENFERRY"));
	screen = popen(line, "r");
	n = fread(r.out, 1, sizeof(r.out) - 1, screen);
	r.out[n] = '\0';
	assert_int_equal(pclose(screen), 0);
	assert_non_null(strstr(r.out, " KiB read\r\033[K"));
	assert_non_null(strstr(r.out, "Nothing wrong was found."));
	unlink(name);
	gen_free(&g);
}

static void test_full_disk(void **state)
{
	struct gen g = { 0 };
	char name[32], line[256];
	(void)state;

	gen_xl(&g, 3, 3);
	save(&g, name);
	snprintf(line, sizeof(line), "%s inspect %s >/dev/full 2>/dev/null", getenv("XENFERRY"), name);
	assert_int_equal(WEXITSTATUS(system(line)), 3);
	unlink(name);
	gen_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_cannot_read),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_verify_pass),
		cmocka_unit_test(test_savefile),
		cmocka_unit_test(test_libxl),
		cmocka_unit_test(test_libxl_records),
		cmocka_unit_test(test_bar),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
