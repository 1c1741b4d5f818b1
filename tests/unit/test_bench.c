/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry bench map against a Xen made here: what it looks up, maps, counts and writes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>
#include <xenctrl.h>
#include <xenforeignmemory.h>
#include <xenstore.h>

#include "bench/bench.h"
#include "cmd.h"
#include "os_xenctrl.h"
#include "runinside.h"

#define DOMID  5
#define FRAMES 300	/* of the domain; each tenth is a hole */

/* A PV guest's: shared_info, four levels of tables, two pages of its P2M list. */
#define PV_FIRST 1000
#define PV_PAGES 7
#define P2M_VA   0xffffc90000000000
static uint64_t pv_pages[PV_PAGES][512];

static struct {
	bool pv, dying, ours;
	int fail_open, fail_getinfo, fail_gpfn, fail_xs, fail_fmem, fail_batch, fail_window;
	int fail_map, fail_unmap, fail_replace;	/* the n-th from now */
	int handles, mappings, windows;
	uint64_t last_replaced;
	struct xcbatch_counters counters;
} xen;

/* ---- libxenctrl, libxenstore, libxenforeignmemory, libxcbatch -------------- */

static bool now(int *countdown)
{
	return *countdown && --*countdown == 0;
}

static void *handle(int error)
{
	errno = error;
	xen.handles += !error;
	return error ? NULL : &xen;
}

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild, unsigned flags)
{
	assert_non_null(logger);
	assert_non_null(dombuild);
	assert_int_equal(flags, 0);
	return handle(xen.fail_open);
}

int xc_interface_close(xc_interface *xch)
{
	(void)xch;
	xen.handles--;
	return 0;
}

int xc_domain_getinfo(xc_interface *xch, uint32_t first, unsigned max, xc_dominfo_t *info)
{
	(void)xch;
	assert_int_equal(max, 1);
	errno = xen.fail_getinfo;
	if (xen.fail_getinfo)
		return -1;
	if (first > DOMID)
		return 0;
	/* As Xen does: the first domain from there on. */
	memset(info, 0, sizeof(*info));
	info->domid = DOMID;
	info->hvm = !xen.pv;
	info->dying = xen.dying;
	info->shared_info_frame = PV_FIRST;
	return 1;
}

int xc_domain_maximum_gpfn(xc_interface *xch, uint32_t domid, xen_pfn_t *last)
{
	(void)xch;
	assert_int_equal(domid, DOMID);
	errno = xen.fail_gpfn;
	*last = FRAMES - 1;
	return xen.fail_gpfn ? -1 : 0;
}

struct xs_handle *xs_open(unsigned long flags)
{
	(void)flags;
	return handle(xen.fail_xs);
}

void xs_close(struct xs_handle *xs)
{
	(void)xs;
	xen.handles--;
}

char **xs_directory(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned *num)
{
	char **list = malloc(3 * sizeof(char *) + 4);

	(void)xs, (void)t;
	assert_string_equal(path, "/local/domain");
	list[0] = memcpy(&list[3], "0\0" "5", 4);
	list[1] = list[0] + 2;
	*num = 2;
	return list;
}

void *xs_read(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned *len)
{
	(void)xs, (void)t;
	*len = 0;
	if (!strcmp(path, "/local/domain/0/name"))
		return strdup("Domain-0");
	return strcmp(path, "/local/domain/5/name") ? NULL : strdup("web");
}

xenforeignmemory_handle *xenforeignmemory_open(xentoollog_logger *logger, unsigned flags)
{
	assert_non_null(logger);
	assert_int_equal(flags, 0);
	return handle(xen.fail_fmem);
}

int xenforeignmemory_close(xenforeignmemory_handle *fmem)
{
	(void)fmem;
	xen.handles--;
	return 0;
}

void *xenforeignmemory_map(xenforeignmemory_handle *fmem, uint32_t dom, int prot, size_t pages,
			   const xen_pfn_t arr[], int err[])
{
	(void)fmem;
	assert_int_equal(dom, DOMID);
	assert_int_equal(prot, 1);
	errno = ENOMEM;
	if (now(&xen.fail_map))
		return NULL;
	if (pages == 1 && arr[0] >= PV_FIRST) {
		err[0] = arr[0] < PV_FIRST + PV_PAGES ? 0 : -EINVAL;
		xen.mappings++;
		return pv_pages[(arr[0] - PV_FIRST) % PV_PAGES];
	}
	for (size_t i = 0; i < pages; i++)
		err[i] = arr[i] % 10 == 0 || arr[i] >= FRAMES ? -EINVAL : 0;
	xen.mappings++;
	xen.counters.map_hypercalls += 2;
	return &xen;
}

int xenforeignmemory_unmap(xenforeignmemory_handle *fmem, void *addr, size_t pages)
{
	(void)fmem, (void)addr, (void)pages;
	xen.mappings--;
	xen.counters.clear_hypercalls += 3;
	xen.counters.flushes++;
	errno = EINVAL;
	return now(&xen.fail_unmap) ? -1 : 0;
}

int xcbatch_open(struct xcbatch **out)
{
	*out = handle(xen.fail_batch);
	return -xen.fail_batch;
}

void xcbatch_close(struct xcbatch *xb)
{
	xen.handles -= xb != NULL;
}

void xcbatch_driver(const struct xcbatch *xb, struct xcbatch_driver *out)
{
	(void)xb;
	memset(out, 0, sizeof(*out));
	out->batched = xen.ours;
	strcpy(out->version, xen.ours ? "1.2" : "");
}

int xcbatch_counters(const struct xcbatch *xb, struct xcbatch_counters *out)
{
	(void)xb;
	*out = xen.counters;
	return xen.ours ? 0 : -ENOTTY;
}

int xcbatch_window_create(struct xcbatch *xb, uint32_t domid, size_t frames, int prot,
			  struct xcbatch_window **out)
{
	(void)xb, (void)frames;
	assert_int_equal(domid, DOMID);
	assert_int_equal(prot, XCBATCH_READ);
	*out = (struct xcbatch_window *)&xen;
	xen.windows += !xen.fail_window;
	return -xen.fail_window;
}

void xcbatch_window_destroy(struct xcbatch_window *w)
{
	(void)w;
	xen.windows--;
}

int xcbatch_window_map(struct xcbatch_window *w, size_t first, const uint64_t *gfns, size_t n, int *errs)
{
	(void)w;
	assert_int_equal(first, 0);
	memset(errs, 0, n * sizeof(*errs));
	/* Others take the place, or it is no replacing. */
	assert_int_not_equal(gfns[0], xen.last_replaced);
	xen.last_replaced = gfns[0];
	xen.counters.map_hypercalls += 5;
	xen.counters.flushes += 2;
	return now(&xen.fail_replace) ? -EINTR : 0;
}

int os_xenctrl_version(unsigned *version)
{
	*version = 4 << 16 | 18;
	return 0;
}

unsigned os_xenctrl_interface(void)
{
	return 21;
}

/* ---- the command, run here --------------------------------------------------- */

static char json_file[] = "/tmp/benchXXXXXX";

static int setup(void **unused)
{
	(void)unused;
	memset(&xen, 0, sizeof(xen));
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	assert_int_equal(xen.handles, 0);
	assert_int_equal(xen.mappings, 0);
	assert_int_equal(xen.windows, 0);
	return 0;
}

#define BENCH(...) RUN_INSIDE(cmd_bench, "bench", __VA_ARGS__)

/* One line, one sentence, beginning with the command. */
static void assert_says(const char *text)
{
	if (!strstr(err_text, text))
		fail_msg("\"%s\" is not in: %s", text, err_text);
	assert_int_equal(strncmp(err_text, "xenferry bench: ", 16), 0);
	assert_ptr_equal(strchr(err_text, '\n'), err_text + strlen(err_text) - 1);
}

static void test_misuse(void **unused)
{
	static const char *const frames[] = { "", "0", "x", "1,", ",1", "1;2", "-1", "1048577", " 1",
					      "99999999999999999999", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,"
					      "19,20,21,22,23,24,25,26,27,28,29,30,31,32,33" };
	static const char *const repeat[] = { "", "0", "-1", "9x", "100001", "x" };

	(void)unused;
	assert_int_equal(BENCH("map"), XF_EXIT_USAGE);
	assert_says("found 0 domains, expected one");
	assert_int_equal(BENCH("map", "a", "b"), XF_EXIT_USAGE);
	assert_says("found 2 domains, expected one");
	assert_int_equal(BENCH("unmap", "5"), XF_EXIT_USAGE);
	assert_says("found \"unmap\", expected \"map\"");
	assert_int_equal(BENCH("map", "5", "--mode", "slow"), XF_EXIT_USAGE);
	assert_says("found --mode \"slow\"");
	assert_int_equal(BENCH("map", "5", "--json"), XF_EXIT_USAGE);
	assert_says("found \"--json\" without a value");
	assert_int_equal(BENCH("map", "5", "-x"), XF_EXIT_USAGE);
	assert_says("-x");
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		assert_int_equal(BENCH("map", "5", "--frames", frames[i]), XF_EXIT_USAGE);
		assert_says("found --frames");
	}
	for (size_t i = 0; i < sizeof(repeat) / sizeof(repeat[0]); i++) {
		assert_int_equal(BENCH("map", "5", "--repeat", repeat[i]), XF_EXIT_USAGE);
		assert_says("found --repeat");
		assert_int_equal(BENCH("map", "5", "--loop", strcmp(repeat[i], "100001") ? repeat[i] : "1000001"),
				 XF_EXIT_USAGE);
		assert_says("found --loop");
	}
	assert_int_equal(BENCH("map", "5", "--time", "86401"), XF_EXIT_USAGE);
	assert_says("found --time \"86401\", expected a number from 0 to 86400");
	assert_string_equal(out_text, "");
	assert_int_equal(BENCH("map", "--help"), XF_EXIT_OK);
	assert_non_null(strstr(out_text, "usage: xenferry bench map"));
}

static void test_no_such_domain(void **unused)
{
	static const char *const names[] = { "4", "6", "32752", "nobody", "5x", "-5" };

	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(BENCH("map", "--", names[i]), XF_EXIT_FAILED);
		assert_says("found no domain");
	}
	xen.dying = true;
	assert_int_equal(BENCH("map", "5"), XF_EXIT_FAILED);
	assert_says("found no domain \"5\"");
}

static void test_look_up_fails(void **unused)
{
	(void)unused;
	xen.fail_xs = ECONNREFUSED;
	assert_int_equal(BENCH("map", "web"), XF_EXIT_FAILED);
	assert_says("could not be looked up");
	xen.fail_open = EACCES;
	assert_int_equal(BENCH("map", "5"), XF_EXIT_FAILED);
	assert_says("as root");
	xen.fail_open = 0;
	xen.fail_getinfo = EACCES;
	assert_int_equal(BENCH("map", "5"), XF_EXIT_FAILED);
	assert_says("running Xen is 4.18");
}

static void test_frames_are_missing(void **unused)
{
	(void)unused;
	assert_int_equal(BENCH("map", "5", "-n", "200"), XF_EXIT_FAILED);
	assert_says("found 270 frames of domain 5 that can be mapped, expected at least 400");
	xen.fail_gpfn = ESRCH;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("no domain of that number");
	xen.fail_gpfn = 0;
	xen.fail_map = 1;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("mapping frames of domain 5 failed");
	xen.fail_fmem = EACCES;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("as root");
}

static void test_operations_fail(void **unused)
{
	(void)unused;
	/* Each map of a run: while looking for frames, timed, counted. */
	for (int nth = 1; nth <= 9; nth++) {
		setup(NULL);
		xen.ours = true;
		xen.fail_map = nth;
		assert_int_equal(BENCH("map", "5", "-n", "2", "-r", "2"), nth <= 6 ? XF_EXIT_FAILED : XF_EXIT_OK);
		teardown(NULL);
	}
	for (int nth = 1; nth <= 2; nth++) {
		setup(NULL);
		xen.fail_unmap = nth + 1;
		assert_int_equal(BENCH("map", "5", "-n", "2", "-r", "2"), XF_EXIT_FAILED);
		assert_says("mapping frames of domain 5 failed");
		teardown(NULL);
	}
	for (int nth = 1; nth <= 2; nth++) {
		setup(NULL);
		xen.fail_map = nth + 1;
		assert_int_equal(BENCH("map", "5", "-n", "2", "-r", "1", "-l", "2"), XF_EXIT_FAILED);
		teardown(NULL);
		setup(NULL);
		xen.fail_unmap = nth + 1;
		assert_int_equal(BENCH("map", "5", "-n", "2", "-r", "1", "-l", "2"), XF_EXIT_FAILED);
		teardown(NULL);
	}
	for (int nth = 1; nth <= 6; nth++) {
		setup(NULL);
		xen.ours = true;
		xen.fail_replace = nth;
		assert_int_equal(BENCH("map", "5", "-n", "2", "-r", "2"), XF_EXIT_FAILED);
		teardown(NULL);
	}
	setup(NULL);
	xen.ours = true;
	xen.fail_window = ENOMEM;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	xen.fail_batch = EACCES;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("as root");
}

static json_object *get(json_object *in, const char *key)
{
	json_object *value = NULL;

	if (!json_object_object_get_ex(in, key, &value))
		fail_msg("no key %s", key);
	return value;
}

/* hypercalls below 0: null is expected. */
static void assert_row(json_object *row, const char *impl, const char *op, int n, double hypercalls, double flushes)
{
	int64_t least = json_object_get_int64(get(row, "min")), most = json_object_get_int64(get(row, "max"));
	int64_t median = json_object_get_int64(get(row, "median"));

	assert_string_equal(json_object_get_string(get(row, "impl")), impl);
	assert_string_equal(json_object_get_string(get(row, "op")), op);
	assert_string_equal(json_object_get_string(get(row, "mode")), "deterministic");
	assert_true(json_object_is_type(get(row, "dom0"), json_type_string));
	assert_true(json_object_get_string_len(get(row, "kernel")) > 0);
	assert_int_equal(json_object_get_int(get(row, "n")), n);
	assert_int_equal(json_object_get_int(get(row, "samples")), 3);
	assert_true(least > 0 && least <= median && median <= most);
	if (hypercalls < 0) {
		assert_null(get(row, "hypercalls"));
		assert_null(get(row, "flushes"));
		return;
	}
	assert_true(json_object_get_double(get(row, "hypercalls")) == hypercalls);
	assert_true(json_object_get_double(get(row, "flushes")) == flushes);
}

static json_object *measured(bool ours)
{
	json_object *all;
	int fd = mkstemp(json_file);

	close(fd);
	xen.ours = ours;
	assert_int_equal(BENCH("map", "web", "--frames", "2,100", "--repeat", "3", "--mode", "deterministic",
			       "--json", json_file), XF_EXIT_OK);
	assert_string_equal(err_text, "");
	all = json_object_from_file(json_file);
	unlink(json_file);
	memset(json_file + strlen(json_file) - 6, 'X', 6);
	assert_non_null(all);
	return all;
}

static void test_stock(void **unused)
{
	json_object *all = measured(false), *rows = get(all, "rows");
	int n[] = { 2, 2, 100, 100 };

	(void)unused;
	assert_int_equal(json_object_array_length(rows), 4);
	for (size_t i = 0; i < 4; i++)
		assert_row(json_object_array_get_idx(rows, i), "stock", i % 2 ? "unmap" : "map", n[i], -1, -1);
	assert_non_null(strstr(out_text, "stock"));
	assert_null(strstr(out_text, "replace  "));
	json_object_put(all);
}

static void test_ours(void **unused)
{
	static const struct { const char *op; double hypercalls, flushes; } want[] = {
		{ "map", 2, 0 }, { "unmap", 3, 1 }, { "replace", 5, 2 },
	};
	json_object *all = measured(true), *rows = get(all, "rows");

	(void)unused;
	assert_int_equal(json_object_array_length(rows), 6);
	for (size_t i = 0; i < 6; i++)
		assert_row(json_object_array_get_idx(rows, i), "ours", want[i % 3].op, i < 3 ? 2 : 100,
			   want[i % 3].hypercalls, want[i % 3].flushes);
	assert_string_equal(json_object_get_string(get(get(all, "env"), "module")), "1.2");
	assert_non_null(strstr(out_text, "replace"));
	json_object_put(all);
}

/* The same map and unmap, but one figure for all of them. */
static void test_loop(void **unused)
{
	json_object *all, *rows, *row;
	int fd = mkstemp(json_file);

	(void)unused;
	close(fd);
	xen.ours = true;
	assert_int_equal(BENCH("map", "5", "-n", "2,7", "-r", "3", "-l", "5", "-j", json_file), XF_EXIT_OK);
	all = json_object_from_file(json_file);
	unlink(json_file);
	memset(json_file + strlen(json_file) - 6, 'X', 6);
	rows = get(all, "rows");
	assert_int_equal(json_object_array_length(rows), 2);
	row = json_object_array_get_idx(rows, 1);
	assert_string_equal(json_object_get_string(get(row, "op")), "loop");
	assert_int_equal(json_object_get_int(get(row, "rounds")), 5);
	assert_int_equal(json_object_get_int(get(row, "samples")), 3);
	/* One while looking for frames; for each size 3 samples of 5. */
	assert_int_equal(xen.counters.map_hypercalls / 2, 1 + 2 * 3 * 5);
	assert_non_null(strstr(out_text, "each sample is 5 times map and unmap"));
	json_object_put(all);
}

/* A figure that takes too long has fewer samples, but never fewer than three. */
static void test_time_limit(void **unused)
{
	struct bench_target target;
	struct bench_result result;
	size_t sizes[] = { 2 };
	struct bench_plan plan = { .sizes = sizes, .sizes_count = 1, .repeat = 1000, .limit_ns = 1 };

	(void)unused;
	xen.ours = true;
	assert_int_equal(bench_find_domain("5", &target), 0);
	assert_int_equal(bench_find_frames(&target, 10), 0);
	for (plan.rounds = 0; plan.rounds < 2; plan.rounds++) {
		assert_int_equal(bench_run(&target, &plan, &result), 0);
		assert_int_equal(result.rows_count, plan.rounds ? 1 : 3);
		for (size_t i = 0; i < result.rows_count; i++) {
			assert_int_equal(result.rows[i].samples, BENCH_LEAST_SAMPLES);
			assert_true(result.rows[i].median > 0);
		}
		bench_result_free(&result);
	}
	bench_forget(&target);
}

/* The sizes that stand there unless others are given: as far as the domain is large enough. */
static void test_sizes_that_fit(void **unused)
{
	(void)unused;
	assert_int_equal(BENCH("map", "5", "-r", "1"), XF_EXIT_OK);
	assert_non_null(strstr(out_text, "\n      64  unmap"));
	assert_null(strstr(out_text, "\n     256  "));
}

static void test_host(void **unused)
{
	struct bench_host host;

	(void)unused;
	memset(&host, 0xff, sizeof(host));
	bench_host(&host);
	assert_true(!strcmp(host.dom0, "unknown") || !strncmp(host.dom0, "pv", 2) || !strcmp(host.dom0, "hvm"));
	assert_true(strlen(host.kernel) > 0);
	assert_null(strchr(host.cpu, '\n'));
}

static void test_marks(void **unused)
{
	char op[16];
	unsigned long n, begin, end, last = 0;
	int lines = 0, fd = mkstemp(json_file);
	FILE *f = fdopen(fd, "r");

	(void)unused;
	assert_int_equal(BENCH("map", "5", "-n", "7", "-r", "4", "--marks", json_file), XF_EXIT_OK);
	for (; fscanf(f, "%15s %lu %lu %lu", op, &n, &begin, &end) == 4; lines++) {
		assert_string_equal(op, lines < 4 ? "map" : "unmap");
		assert_int_equal(n, 7);
		assert_true(begin < end && (lines == 4 || begin > last));
		last = end;
	}
	assert_int_equal(lines, 8);
	fclose(f);
	unlink(json_file);
	memset(json_file + strlen(json_file) - 6, 'X', 6);
}

static void test_file_not_written(void **unused)
{
	(void)unused;
	assert_int_equal(BENCH("map", "5", "-n", "2", "--json", "/nowhere/x"), XF_EXIT_FAILED);
	assert_says("/nowhere/x could not be written (No such file or directory)");
	assert_int_equal(BENCH("map", "5", "-n", "2", "--json", "/dev/full"), XF_EXIT_FAILED);
	assert_says("/dev/full could not be written");
	assert_int_equal(BENCH("map", "5", "-n", "2", "--marks", "/nowhere/x"), XF_EXIT_FAILED);
	assert_says("/nowhere/x could not be written");
	assert_int_equal(BENCH("map", "5", "-n", "2", "--marks", "/dev/full"), XF_EXIT_FAILED);
	assert_says("/dev/full could not be written");
}

/* Each mappable frame once, out of order, and the same order again the next time. */
static void test_scattered(void **unused)
{
	struct bench_target a, b;
	bool seen[FRAMES] = { false };
	size_t in_order = 0;

	(void)unused;
	assert_int_equal(bench_find_domain("5", &a), 0);
	assert_int_equal(bench_find_domain("web", &b), 0);
	assert_int_equal(b.domid, DOMID);
	assert_int_equal(bench_find_frames(&a, 1000), 0);
	assert_int_equal(bench_find_frames(&b, 1000), 0);
	assert_int_equal(a.count, 270);
	assert_memory_equal(a.frames, b.frames, a.count * sizeof(*a.frames));
	for (size_t i = 0; i < a.count; i++) {
		assert_true(a.frames[i] < FRAMES && a.frames[i] % 10 && !seen[a.frames[i]]);
		seen[a.frames[i]] = true;
		in_order += i && a.frames[i] == a.frames[i - 1] + 1;
	}
	assert_true(in_order < 20);
	bench_forget(&a);
	bench_forget(&b);
}

static uint64_t table_entry(unsigned page)
{
	return (uint64_t)(PV_FIRST + page) << 12 | 0x67;
}

/* Its P2M lists the domain's frames from the last down, with something between that is none of its own. */
static shared_info_t *make_pv_guest(void)
{
	shared_info_t *info = (shared_info_t *)(void *)pv_pages[0];

	memset(pv_pages, 0, sizeof(pv_pages));
	info->arch.p2m_cr3 = (PV_FIRST + 1) << 12;
	info->arch.p2m_vaddr = P2M_VA;
	info->arch.max_pfn = 512 + 90;
	pv_pages[1][P2M_VA >> 39 & 511] = table_entry(2);
	pv_pages[2][P2M_VA >> 30 & 511] = table_entry(3);
	pv_pages[3][0] = table_entry(4);
	pv_pages[4][0] = table_entry(5);
	pv_pages[4][1] = table_entry(6);
	for (uint64_t i = 0; i < 1024; i++)
		pv_pages[5 + i / 512][i % 512] = i % 2 ? UINT64_C(1) << 63 | i : FRAMES - 1 - i / 2;
	pv_pages[5][1] = UINT64_MAX;
	xen.pv = true;
	return info;
}

static void test_pv_frames(void **unused)
{
	struct bench_target t;
	bool seen[FRAMES] = { false };
	shared_info_t *info = make_pv_guest();

	(void)unused;
	assert_int_equal(bench_find_domain("5", &t), 0);
	assert_int_equal(bench_find_frames(&t, 1000), 0);
	/* 602 entries: every other one, of which each tenth can't be mapped, then what lies beyond frame 0. */
	assert_int_equal(t.count, 270);
	for (size_t i = 0; i < t.count; i++) {
		assert_true(t.frames[i] < FRAMES && t.frames[i] % 10 && !seen[t.frames[i]]);
		seen[t.frames[i]] = true;
	}
	bench_forget(&t);

	/* The list ends where the guest says, within a page; and no more is taken than wanted. */
	info->arch.max_pfn = 40;
	assert_int_equal(bench_find_domain("5", &t), 0);
	assert_int_equal(bench_find_frames(&t, 1000), 0);
	assert_int_equal(t.count, 18);
	bench_forget(&t);
	assert_int_equal(bench_find_domain("5", &t), 0);
	assert_int_equal(bench_find_frames(&t, 7), 0);
	assert_int_equal(t.count, 7);
	bench_forget(&t);

	assert_int_equal(BENCH("map", "5", "-n", "9"), XF_EXIT_OK);
	assert_non_null(strstr(out_text, "PV"));
}

static void test_pv_frames_are_missing(void **unused)
{
	shared_info_t *info = make_pv_guest();

	(void)unused;
	info->arch.p2m_cr3 = 0;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("found no list of frames of PV guest 5");
	info = make_pv_guest();
	info->arch.p2m_vaddr = P2M_VA - 4096;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("not mapped in its page tables");
	info = make_pv_guest();
	info->arch.p2m_cr3 = UINT64_MAX;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("Invalid argument");
	/* A page of the list that is not the guest's, and one that can't be mapped for lack of memory. */
	make_pv_guest();
	pv_pages[4][0] = UINT64_C(0x5555) << 12 | 1;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("Invalid argument");
	make_pv_guest();
	xen.fail_map = 1;
	assert_int_equal(BENCH("map", "5", "-n", "2"), XF_EXIT_FAILED);
	assert_says("Cannot allocate memory");
}

/* It says that its list is endless, and that none of it is its own. */
static void test_pv_endless_list(void **unused)
{
	shared_info_t *info = make_pv_guest();
	struct bench_target t;

	(void)unused;
	info->arch.max_pfn = UINT64_MAX;
	memset(pv_pages[5], 0xff, 2 * sizeof(pv_pages[5]));
	/* 512 times 512 pages, which are all the same one. */
	for (unsigned i = 0; i < 512; i++) {
		pv_pages[3][i] = table_entry(4);
		pv_pages[4][i] = table_entry(5);
	}
	for (unsigned i = 0; i < 512; i++)
		pv_pages[2][i] = table_entry(3);
	assert_int_equal(bench_find_domain("5", &t), 0);
	assert_int_equal(bench_find_frames(&t, 1000), 0);
	assert_int_equal(t.count, 0);
	bench_forget(&t);
}

static void test_summary(void **unused)
{
	struct bench_sample s[] = { { 10, 19 }, { 20, 21 }, { 30, 35 }, { 40, 47 } };
	struct bench_row row = { .samples = 4, .sample = s };

	(void)unused;
	bench_summarize(&row);
	assert_int_equal(row.min, 1);
	assert_int_equal(row.max, 9);
	assert_int_equal(row.median, 6);
	row.samples = 3;
	bench_summarize(&row);
	assert_int_equal(row.median, 5);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_misuse),	    TEST(test_no_such_domain), TEST(test_look_up_fails),
		TEST(test_frames_are_missing), TEST(test_operations_fail), TEST(test_stock),
		TEST(test_ours),	    TEST(test_marks),	       TEST(test_file_not_written),
		TEST(test_scattered), TEST(test_pv_frames), TEST(test_pv_frames_are_missing), TEST(test_pv_endless_list),
			    TEST(test_summary),	       TEST(test_loop),
		TEST(test_time_limit),	    TEST(test_sizes_that_fit), TEST(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
