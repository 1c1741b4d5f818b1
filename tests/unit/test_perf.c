/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What make bench-map counts and merges with: trace-count and bench_map.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runcmd.h"

static struct ran r;
static char dir[] = "/tmp/perfXXXXXX";

static const char *in_dir(const char *name)
{
	static char path[2][200];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* ---- trace-count ------------------------------------------------------------ */

enum { MMU = 0x0020100d, SUB = 0x0020200e, PTWR = 0x0020110b, LOST = 0x0001f001, CPU = 0x0001f003, TRAP = 0x00201003 };

static FILE *trace;

/* One record as xentrace writes it; tsc 0: without a time. */
static void record(uint32_t id, uint64_t tsc, uint32_t words, const uint32_t *extra)
{
	uint32_t head = id | words << 28 | (tsc ? 0x80000000u : 0);

	fwrite(&head, 4, 1, trace);
	if (tsc)
		fwrite(&tsc, 8, 1, trace);
	fwrite(extra, 4, words, trace);
}

static void call(uint64_t tsc, uint32_t id, uint32_t op, uint32_t count)
{
	/* The bits above an operation's number say which arguments follow. */
	record(id, tsc, 2, (const uint32_t[]){ op | 0x00400000, count });
}

static void begin_trace(void)
{
	trace = fopen(in_dir("trace"), "w");
	assert_non_null(trace);
	record(CPU, 0, 2, (const uint32_t[]){ 0, 4096 });
}

static void count_trace(int status, const char *out, const char *err)
{
	fclose(trace);
	setenv("XENFERRY", getenv("TRACE_COUNT"), 1);
	RUN(&r, in_dir("trace"), in_dir("marks"));
	assert_ran(&r, status, out, err);
}

static void test_counts(void **unused)
{
	(void)unused;
	put("marks", "map 8 1000 2000\nunmap 8 3000 4000\n");
	begin_trace();
	call(900, MMU, 1, 99);			/* before, */
	call(1100, MMU, 1, 5);
	call(1200, MMU, 1, 3);
	call(1300, MMU, 26, 1);			/* a flush */
	call(1400, MMU, 1, 0x80000000u | 2);	/* Xen goes on with a call */
	record(TRAP, 1450, 3, (const uint32_t[]){ 1, 2, 3 });
	call(1460, MMU, 29, 0);			/* none of ours */
	call(2000, MMU, 1, 99);			/* and after */
	for (uint64_t i = 0; i < 8; i++)
		record(PTWR, 3100 + i, 6, (const uint32_t[]){ 0, 0, 0, 0, 0, 0 });
	/* A page-table page is released. */
	call(3200, MMU, 13, 2);
	call(3201, SUB, 26, 1);
	call(3202, SUB, 14, 0);
	call(3300, MMU, 1, 1);
	/* Two flushes in one multicall. */
	call(3400, MMU, 13, 2);
	call(3401, SUB, 26, 1);
	call(3402, SUB, 26, 1);
	count_trace(0, "map 8 samples=1 calls=2 entries=8 flushes=1 traps=0 tables=0 resumed=1 other=0\n"
		       "unmap 8 samples=1 calls=0 entries=0 flushes=2 traps=8 tables=1 resumed=0 other=1\n", NULL);
}

/* An interrupt adds calls to a sample: that with the fewest events counts. */
static void test_fewest(void **unused)
{
	(void)unused;
	put("marks", "map 1 100 200\nmap 1 300 400\nmap 1 500 600\n");
	begin_trace();
	call(110, MMU, 1, 1);
	call(120, MMU, 26, 1);
	call(310, MMU, 1, 1);
	call(510, MMU, 1, 1);
	call(520, MMU, 1, 4);
	count_trace(0, "map 1 samples=3 calls=1 entries=1 flushes=0", NULL);
}

/* A sample of which Xen lost records would look cheap. */
static void test_lost(void **unused)
{
	(void)unused;
	put("marks", "map 1 100 200\nmap 1 300 400\n");
	begin_trace();
	record(LOST, 350, 4, (const uint32_t[]){ 7, 0, 290, 0 });
	call(110, MMU, 1, 1);
	count_trace(0, "map 1 samples=1 calls=1", NULL);
	begin_trace();
	call(90, MMU, 1, 1);
	record(LOST, 350, 4, (const uint32_t[]){ 7, 0, 150, 0 });
	count_trace(1, NULL, "records were lost in every sample");
}

static void test_unusable_files(void **unused)
{
	(void)unused;
	put("marks", "map 1 100 200\n");
	begin_trace();
	count_trace(1, NULL, "has no hypercall in it");
	begin_trace();
	fwrite("\x0d\x10\x20\xa0", 4, 1, trace);
	count_trace(1, NULL, "ends within a record");
	put("marks", "map 1 100\n");
	begin_trace();
	count_trace(1, NULL, "is not what xenferry bench map --marks writes");
	put("marks", "");
	begin_trace();
	count_trace(1, NULL, "is not what xenferry bench map --marks writes");
	unlink(in_dir("marks"));
	begin_trace();
	count_trace(1, NULL, "can't be opened");
	RUN(&r, "x");
	assert_ran(&r, 2, NULL, "usage: trace-count");
}

/* ---- bench_map.py ------------------------------------------------------------- */

static void put_rows(const char *name, const char *impl, int map, int unmap, int replace)
{
	const int ticks[] = { map, unmap, replace }, calls[] = { 3, 3, 3 }, flushes[] = { 0, 1, 1 };
	static const char *const ops[] = { "map", "unmap", "replace" };
	char text[2000];
	int at = sprintf(text, "{\"env\": {\"kernel\": \"k\", \"module\": \"%s\"}, \"rows\": [", impl);

	for (int i = 0; i < (replace ? 3 : 2); i++)
		at += sprintf(text + at, "%s{\"dom0\": \"pv\", \"mode\": \"deterministic\", \"n\": 1024, \"impl\": \"%s\", "
			      "\"op\": \"%s\", \"median\": %d, \"min\": 1, \"max\": 2, \"samples\": 9, \"hypercalls\": %d, "
			      "\"flushes\": %d}", i ? ", " : "", impl, ops[i], ticks[i], calls[i], flushes[i]);
	sprintf(text + at, "]}");
	put(name, text);
}

static void put_good(void)
{
	put("env.log", "xen=4.17.7\ndom0_kernel=k\n");
	put_rows("stock.json.log", "stock", 3000, 6000, 0);
	put_rows("stock.traced.json.log", "stock", 3000, 6000, 0);
	put_rows("ours.json.log", "ours", 2000, 1000, 3000);
	put_rows("ours.traced.json.log", "ours", 2000, 1000, 3000);
	put("stock.counts.log", "map 1024 samples=7 calls=64 entries=1024 flushes=2 traps=0\n"
				"unmap 1024 samples=7 calls=0 entries=0 flushes=1 traps=1024\n");
	put("ours.counts.log", "map 1024 samples=7 calls=3 entries=1024 flushes=0 traps=0\n"
			       "unmap 1024 samples=7 calls=3 entries=1024 flushes=2 traps=0\n"
			       "replace 1024 samples=7 calls=3 entries=1024 flushes=1 traps=0\n");
}

static void merge(int status, const char *out, const char *err)
{
	setenv("XENFERRY", getenv("BENCH_MAP"), 1);
	RUN(&r, dir, in_dir("bench/map.json"));
	assert_ran(&r, status, out, err);
}

static double number(json_object *in, const char *key)
{
	json_object *value;

	assert_true(json_object_object_get_ex(in, key, &value));
	return json_object_get_double(value);
}

static void test_merge(void **unused)
{
	json_object *all, *rows, *ratios, *row;

	(void)unused;
	put_good();
	merge(0, "3.00", NULL);
	all = json_object_from_file(in_dir("bench/map.json"));
	assert_true(json_object_object_get_ex(all, "rows", &rows));
	assert_int_equal(json_object_array_length(rows), 5);
	row = json_object_array_get_idx(rows, 1);
	assert_true(number(row, "hypercalls") == 0 && number(row, "flushes") == 1 && number(row, "traps") == 1024);
	assert_true(json_object_object_get_ex(all, "ratios", &ratios));
	row = json_object_array_get_idx(ratios, 0);
	assert_true(number(row, "map") == 1.5 && number(row, "unmap") == 6 && number(row, "replace") == 3);
	json_object_put(all);
}

static void test_merge_refuses(void **unused)
{
	(void)unused;
	put_good();
	put_rows("ours.json.log", "ours", 2000, 2001, 3000);
	merge(1, NULL, "unmap of 1024 frames is 2.999 times cheaper than stock, demanded are 3.0");
	put_good();
	put_rows("ours.json.log", "ours", 2000, 1000, 3700);
	merge(1, NULL, "replace of 1024 frames is 2.432 times cheaper than stock, demanded are 2.5");
	put_good();
	put("ours.counts.log", "map 1024 samples=7 calls=4 entries=1024 flushes=0 traps=0\n"
			       "unmap 1024 samples=7 calls=3 entries=1024 flushes=0 traps=0\n"
			       "replace 1024 samples=7 calls=3 entries=1024 flushes=1 traps=0\n");
	merge(1, NULL, "map of 1024: the driver counted 3 hypercalls, Xen saw 4");
	assert_non_null(strstr(r.err, "unmap of 1024: the driver counted 1 flushes, Xen saw 0"));
	put("stock.counts.log", "map 1024 samples=7 calls=64 entries=1024 flushes=2 traps=0\n");
	merge(1, NULL, "unmap of 1024 frames was measured, but not counted (stock)");
	put_good();
	put_rows("ours.json.log", "stock", 2000, 1000, 3000);
	merge(1, NULL, "a row says impl stock, expected ours");
	unlink(in_dir("env.log"));
	put_rows("ours.json.log", "ours", 2000, 1000, 3000);
	merge(1, NULL, "did the scenario pass?");
}

static int remove_dir(void **unused)
{
	char command[100];

	(void)unused;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static int make_dir(void **unused)
{
	(void)unused;
	return mkdtemp(dir) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_fewest),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_unusable_files),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_refuses),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
