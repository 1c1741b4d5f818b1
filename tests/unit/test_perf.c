/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What make bench-map counts with: trace-count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

enum { MMU = 0x0020100d, SUB = 0x0020200e, PTWR = 0x0020110b, LOST = 0x0001f001, CPU = 0x0001f003, TRAP = 0x00201003,
       EXIT = 0x00081102, VMMCALL = 0x00082012, RDTSC = 0x0008201a };

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

/* What a PVH Dom0 exits for: a hypercall, or to read the counter. Neither has a time of its own. */
static void pvh_call(uint32_t op)
{
	record(VMMCALL, 0, 1, &op);
}

static void pvh_reads(uint32_t value)
{
	record(RDTSC, 0, 2, (const uint32_t[]){ value, 0 });
}

static void test_pvh(void **unused)
{
	(void)unused;
	put("marks", "map 4 100 200\nmap 4 210 290\nunmap 4 300 400\n");
	begin_trace();
	record(EXIT, 7777, 3, (const uint32_t[]){ 0x6e, 0, 0 });
	pvh_call(12);		/* before */
	pvh_reads(100);
	pvh_call(12);
	pvh_reads(150);		/* the kernel's own */
	pvh_call(12);
	pvh_call(29);		/* none of ours */
	pvh_reads(200);
	pvh_call(12);		/* between */
	pvh_reads(210);
	/* The end of this one is lost, and the beginning of none. */
	pvh_reads(300);
	pvh_call(13);
	record(SUB, 1311, 1, (const uint32_t[]){ 12 });
	record(SUB, 1312, 1, (const uint32_t[]){ 12 });
	pvh_reads(400);
	pvh_call(12);		/* after */
	count_trace(0, "map 4 samples=1 calls=2 entries=2 flushes=0", NULL);
	assert_non_null(strstr(r.out, "unmap 4 samples=1 calls=1 entries=0 flushes=0"));
	begin_trace();
	pvh_reads(100);
	pvh_call(12);
	record(LOST, 350, 4, (const uint32_t[]){ 7, 0, 340, 0 });
	pvh_reads(200);
	count_trace(1, NULL, "records were lost in every sample");
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
	/* Page-table pages are emptied by our driver. */
	call(3500, MMU, 13, 3);
	call(3501, SUB, 1, 2);
	call(3502, SUB, 26, 2);
	call(3503, SUB, 14, 0);
	/* And again, but Xen interrupts that multicall and goes on with the rest of it. */
	call(3600, MMU, 13, 3);
	call(3601, SUB, 1, 2);
	call(3602, SUB, 26, 2);
	call(3610, MMU, 13, 1);
	call(3611, SUB, 14, 0);
	/* And again, interrupted twice within its first part. */
	call(3700, MMU, 13, 2);
	call(3701, SUB, 1, 2);
	call(3710, MMU, 13, 2);
	call(3711, SUB, 1, 0x80000000u | 1);
	call(3712, MMU, 29, 0);			/* an event's */
	call(3720, MMU, 13, 2);
	call(3721, SUB, 1, 0x80000000u);
	call(3722, SUB, 26, 1);
	count_trace(0, "map 8 samples=1 calls=2 entries=8 flushes=1 traps=0 tables=0 resumed=1 other=0\n"
		       "unmap 8 samples=1 calls=3 entries=0 flushes=2 traps=8 tables=1 resumed=3 other=1\n", NULL);
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
		cmocka_unit_test(test_pvh),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
