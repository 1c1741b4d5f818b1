/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles and windows over both drivers, against a fake kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xen/xenferry_privcmd.h>

#include "xcbatch.h"
#include "xcbatch_fake_kernel.h"

#define FRAMES 40

static struct xcbatch *xb;
static struct xcbatch_window *w;
static uint64_t want[FRAMES];	/* what each slot must hold; 0: nothing */
static int errs[FRAMES];

static void assert_window(void)
{
	for (size_t i = 0; i < FRAMES; i++) {
		const char *slot = (const char *)xcbatch_window_addr(w) + i * XCBATCH_PAGE_SIZE;
		uint64_t found;

		assert_int_equal(fake_holds(slot), want[i]);
		if (!want[i])
			continue;
		memcpy(&found, slot, sizeof(found));
		assert_int_equal(found, want[i]);
	}
	assert_int_equal(fake.cuts, 0);
}

static void open_window(bool ours)
{
	fake_reset(ours);
	memset(want, 0, sizeof(want));
	assert_int_equal(xcbatch_open(&xb), 0);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, FRAMES,
					       XCBATCH_READ | XCBATCH_WRITE, &w), 0);
	assert_window();
}

static void close_window(void)
{
	xcbatch_window_destroy(w);
	xcbatch_close(xb);
	assert_int_equal(fake.open_files, 0);
	assert_int_equal(fake.cuts, 0);
}

static int setup_stock(void **unused)
{
	(void)unused;
	open_window(false);
	return 0;
}

static int setup_ours(void **unused)
{
	(void)unused;
	open_window(true);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	close_window();
	assert_int_equal(fake_pages_in_use(), 0);
	assert_int_equal(fake.bad_calls, 0);
	return 0;
}

/* Maps base + i * 3 and so on at first; a base of FAKE_BAD_GFN or more fails. */
static int map(size_t first, size_t n, uint64_t base)
{
	uint64_t gfns[FRAMES] = { 0 };
	int rc;

	for (size_t i = 0; i < n; i++)
		gfns[i] = base + i * 3;
	rc = xcbatch_window_map(w, first, gfns, n, errs);
	for (size_t i = 0; i < n && rc != -ESTALE && rc != -EINVAL; i++)
		want[first + i] = (rc == 0 || rc == -ENXIO) && errs[i] == 0 ? gfns[i] : 0;
	return rc;
}

static int clear(size_t first, size_t n)
{
	int rc = xcbatch_window_clear(w, first, n);

	if (rc == 0)
		memset(want + first, 0, n * sizeof(*want));
	return rc;
}

/* ---- handles -------------------------------------------------------------- */

static void test_open_fails(void **unused)
{
	static const int found[] = { ENOENT, EACCES, EPERM, ENXIO };
	struct xcbatch *handle = NULL;

	(void)unused;
	assert_int_equal(xcbatch_open(NULL), -EINVAL);
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		fake_reset(true);
		fake.fail_open = 1;
		fake.errno_of_failure = found[i];
		assert_int_equal(xcbatch_open(&handle), -found[i]);
		assert_null(handle);
	}
	fake_reset(true);
	fake.fail_alloc = 1;
	assert_int_equal(xcbatch_open(&handle), -ENOMEM);
	assert_int_equal(fake.open_files, 0);
	xcbatch_close(NULL);
}

/* ENOTTY means stock; any other answer to the query is an error, not stock. */
static void test_query_fails(void **unused)
{
	struct xcbatch *handle = NULL;

	(void)unused;
	fake_reset(true);
	fake.fail_ioctl = 1;
	fake.errno_of_failure = EFAULT;
	assert_int_equal(xcbatch_open(&handle), -EFAULT);
	assert_null(handle);
	assert_int_equal(fake.open_files, 0);
}

static void assert_driver(int batched, unsigned features, const char *version)
{
	struct xcbatch_driver driver;
	struct xcbatch *handle;

	assert_int_equal(xcbatch_open(&handle), 0);
	memset(&driver, 0xaa, sizeof(driver));
	xcbatch_driver(handle, &driver);
	assert_int_equal(driver.batched, batched);
	assert_int_equal(driver.features, features);
	assert_string_equal(driver.version, version);
	xcbatch_close(handle);
	assert_int_equal(fake.open_files, 0);
}

static void test_which_driver(void **unused)
{
	static const char version[] = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv";
	const unsigned both = XENFERRY_FEATURE_REPLACE | XENFERRY_FEATURE_CLEAR;

	(void)unused;
	fake_reset(false);
	assert_driver(0, 0, "");
	fake_reset(true);
	assert_driver(1, both, version);
	fake.abi = XENFERRY_PRIVCMD_ABI + 1;
	assert_driver(0, 0, version);
	fake.abi = XENFERRY_PRIVCMD_ABI;
	fake.features = XENFERRY_FEATURE_REPLACE;
	assert_driver(0, XENFERRY_FEATURE_REPLACE, version);
	fake.features = XENFERRY_FEATURE_CLEAR;
	assert_driver(0, XENFERRY_FEATURE_CLEAR, version);
	fake.features = both;
	fake.max_frames = 0;
	assert_driver(0, both, version);
}

static void test_counters(void **unused)
{
	struct xcbatch_counters c;
	struct xcbatch *handle;

	(void)unused;
	fake_reset(true);
	assert_int_equal(xcbatch_open(&handle), 0);
	assert_int_equal(xcbatch_counters(handle, &c), 0);
	assert_int_equal(c.map_hypercalls, 1);
	assert_int_equal(c.map_entries, 2);
	assert_int_equal(c.clear_hypercalls, 3);
	assert_int_equal(c.clear_entries, 4);
	assert_int_equal(c.flushes, 5);
	assert_int_equal(c.failed_entries, 6);
	xcbatch_close(handle);
	fake_reset(false);
	assert_int_equal(xcbatch_open(&handle), 0);
	assert_int_equal(xcbatch_counters(handle, &c), -ENOTTY);
	xcbatch_close(handle);
}

/* ---- windows: create and destroy ------------------------------------------ */

static void test_create_arguments(void **unused)
{
	const int rw = XCBATCH_READ | XCBATCH_WRITE;
	struct xcbatch_window *win = NULL;

	(void)unused;
	fake_reset(true);
	assert_int_equal(xcbatch_open(&xb), 0);
	assert_int_equal(xcbatch_window_create(NULL, FAKE_DOMID, 1, rw, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 1, rw, NULL), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, 0x7ff4, 1, rw, &win), -EINVAL);
	/* The ioctls have 16 bits for a domain: 65536 + 7 must not become 7. */
	assert_int_equal(xcbatch_window_create(xb, 65536 + FAKE_DOMID, 1, rw, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, UINT32_MAX, 1, rw, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 0, rw, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, XCBATCH_WINDOW_MAX + 1, rw, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, SIZE_MAX, rw, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 1, 0, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 1, XCBATCH_WRITE, &win), -EINVAL);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 1, 4 | rw, &win), -EINVAL);
	assert_null(win);
	assert_int_equal(fake_pages_in_use(), 0);
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 9, XCBATCH_READ, &win), 0);
	assert_int_equal(xcbatch_window_frames(win), 9);
	xcbatch_window_destroy(win);
	xcbatch_window_destroy(NULL);
	xcbatch_close(xb);
}

static void assert_create_fails(bool ours, int allocations)
{
	struct xcbatch_window *win = NULL;

	fake_reset(ours);
	assert_int_equal(xcbatch_open(&xb), 0);
	for (int i = 1; i <= allocations; i++) {
		fake.fail_alloc = i;
		assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 9, XCBATCH_READ, &win), -ENOMEM);
		assert_int_equal(fake.fail_alloc, 0);
	}
	fake.fail_mmap = 1;
	fake.errno_of_failure = EAGAIN;
	assert_int_equal(xcbatch_window_create(xb, FAKE_DOMID, 9, XCBATCH_READ, &win), -EAGAIN);
	assert_null(win);
	assert_int_equal(fake_pages_in_use(), 0);
	xcbatch_close(xb);
}

static void test_create_fails(void **unused)
{
	(void)unused;
	assert_create_fails(true, 1);
	assert_create_fails(false, 5);
}

/* After fork the child has no mapping; what is at that address is its own. */
static void test_destroy_in_child(void **unused)
{
	(void)unused;
	open_window(true);
	map(0, FRAMES, 500);
	fake.pid++;
	close_window();
	assert_int_equal(fake_pages_in_use(), FRAMES);
}

/* ---- windows: map and clear, both drivers ---------------------------------- */

static void test_map_arguments(void **unused)
{
	uint64_t gfn = 5;
	int err = 77;

	(void)unused;
	assert_int_equal(xcbatch_window_map(NULL, 0, &gfn, 1, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, 0, NULL, 1, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, 0, &gfn, 1, NULL), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, 0, &gfn, 0, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, FRAMES, &gfn, 1, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, FRAMES - 1, &gfn, 2, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, 1, &gfn, SIZE_MAX, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, SIZE_MAX, &gfn, 1, &err), -EINVAL);
	assert_int_equal(xcbatch_window_map(w, SIZE_MAX, &gfn, 2, &err), -EINVAL);
	assert_int_equal(err, 77);
	assert_int_equal(xcbatch_window_clear(NULL, 0, 1), -EINVAL);
	assert_int_equal(xcbatch_window_clear(w, 0, 0), -EINVAL);
	assert_int_equal(xcbatch_window_clear(w, FRAMES, 1), -EINVAL);
	assert_int_equal(xcbatch_window_clear(w, 2, FRAMES - 1), -EINVAL);
	assert_int_equal(xcbatch_window_clear(w, SIZE_MAX, 2), -EINVAL);
	assert_int_equal(fake.calls, 0);
	assert_window();
}

static void test_map_and_replace(void **unused)
{
	const void *addr = xcbatch_window_addr(w);

	(void)unused;
	assert_int_equal(map(0, FRAMES, 1000), 0);
	assert_window();
	assert_int_equal(map(0, FRAMES, 5000), 0);
	assert_window();
	assert_int_equal(clear(0, FRAMES), 0);
	assert_window();
	assert_int_equal(clear(0, FRAMES), 0);
	assert_int_equal(map(3, 1, 9), 0);
	assert_window();
	assert_ptr_equal(xcbatch_window_addr(w), addr);
}

/* Every way a call can lie over an earlier one: the rest must stay as it was. */
static void test_overlaps(void **unused)
{
	static const struct { size_t first, n; } over[] = {
		{ 10, 10 }, { 10, 4 }, { 16, 4 }, { 13, 4 }, { 5, 8 }, { 17, 8 }, { 5, 20 },
		{ 9, 1 }, { 20, 1 }, { 0, FRAMES }, { 12, 14 }, { 29, 3 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++) {
		for (int clearing = 0; clearing < 2; clearing++) {
			assert_int_equal(clear(0, FRAMES), 0);
			assert_int_equal(map(10, 10, 1000), 0);
			assert_int_equal(map(24, 6, 2000), 0);
			assert_int_equal(clearing ? clear(over[i].first, over[i].n)
						  : map(over[i].first, over[i].n, 3000), 0);
			assert_window();
		}
	}
}

static void test_frame_errors(void **unused)
{
	uint64_t gfns[FRAMES];

	(void)unused;
	assert_int_equal(map(0, FRAMES, 1000), 0);
	for (size_t i = 0; i < FRAMES; i++)
		gfns[i] = i % 5 == 2 ? FAKE_BAD_GFN + i : 200 + i;
	assert_int_equal(xcbatch_window_map(w, 0, gfns, FRAMES, errs), -ENXIO);
	for (size_t i = 0; i < FRAMES; i++) {
		assert_int_equal(errs[i], i % 5 == 2 ? -EINVAL : 0);
		want[i] = i % 5 == 2 ? 0 : gfns[i];
	}
	assert_window();
	/* A neighbour's call must not need the bad frames. */
	assert_int_equal(map(0, 3, 3000), 0);
	assert_window();
	assert_int_equal(clear(38, 2), 0);
	assert_window();
}

static void test_call_fails(void **unused)
{
	static const int found[] = { EPERM, EINTR, ENOMEM, EFAULT };

	(void)unused;
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		assert_int_equal(map(0, 10, 1000), 0);
		assert_int_equal(map(10, 20, 2000), 0);
		/* With ours the second of two calls: the first 16 frames are mapped then. */
		fake.fail_ioctl = fake.ours ? 2 : 1;
		fake.errno_of_failure = found[i];
		assert_int_equal(map(10, 20, 3000), -found[i]);
		for (size_t k = 0; k < 20; k++)
			assert_int_equal(errs[k], -found[i]);
		assert_window();
	}
}

/* ---- paged-out frames, both drivers ----------------------------------------- */

static void test_paged_out_twice(void **unused)
{
	uint64_t gfns[8] = { 11, 12, 13, FAKE_BAD_GFN, 15, 16, 17, 18 };
	int before = fake.calls;

	(void)unused;
	fake.paged_gfn = 16;
	fake.paged_tries = 2;
	assert_int_equal(xcbatch_window_map(w, 4, gfns, 8, errs), -ENXIO);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(errs[i], i == 3 ? -EINVAL : 0);
		want[4 + i] = i == 3 ? 0 : gfns[i];
	}
	assert_window();
	assert_int_equal(fake.pauses, 2);
	assert_true(fake.pause_ns_least >= 100000);
	/* The frame itself was tried again, and nothing but it. */
	assert_int_equal(fake.calls, before + 3);
	for (int i = before + 1; i < fake.calls; i++) {
		assert_int_equal(fake.call[i].n, 1);
		assert_int_equal(fake.call[i].addr, (uintptr_t)xcbatch_window_addr(w) + 9 * 4096);
	}
}

static void test_paged_out_for_ever(void **unused)
{
	uint64_t gfns[3] = { 11, 12, 13 };
	int before = fake.calls;

	(void)unused;
	fake.paged_gfn = 12;
	fake.paged_tries = 1000000;
	assert_int_equal(xcbatch_window_map(w, 0, gfns, 3, errs), -ENXIO);
	assert_int_equal(errs[0], 0);
	assert_int_equal(errs[1], -ENOENT);
	assert_int_equal(errs[2], 0);
	want[0] = 11;
	want[2] = 13;
	assert_window();
	assert_int_equal(fake.calls, before + XCBATCH_PAGING_TRIES);
	assert_int_equal(fake.pauses, XCBATCH_PAGING_TRIES - 1);
	assert_true(fake.pause_ns_least >= 100000);
}

static void test_try_again_fails(void **unused)
{
	(void)unused;
	assert_int_equal(map(0, 6, 1000), 0);
	fake.paged_gfn = 2003;
	fake.paged_tries = 5;
	fake.fail_ioctl = 2;
	fake.errno_of_failure = EINTR;
	assert_int_equal(map(0, 6, 2000), -EINTR);
	assert_int_equal(errs[0], -EINTR);
	assert_window();
}

/* ---- the stock driver's own ways to fail ------------------------------------ */

static void test_stock_no_memory_to_cut(void **unused)
{
	(void)unused;
	assert_int_equal(map(0, 20, 1000), 0);
	for (int i = 1; i <= 2; i++) {
		uint64_t gfn = 5;

		/* Nothing was touched yet; the slot called for counts as lost all the same. */
		fake.fail_alloc = i;
		assert_int_equal(xcbatch_window_map(w, 5, &gfn, 1, errs), -ENOMEM);
		assert_int_equal(errs[0], -ENOMEM);
		assert_window();
		fake.fail_alloc = i;
		assert_int_equal(clear(5, 1), -ENOMEM);
		assert_window();
	}
}

/* mmap number `nth` of a call fails; hole: after the kernel had taken away what was there. */
static void mmap_fails(int nth, bool hole, bool taken)
{
	fake.fail_mmap = nth;
	fake.mmap_leaves_hole = hole;
	fake.hole_is_taken = taken;
	fake.errno_of_failure = ENOMEM;
}

static void test_stock_mmap_refused(void **unused)
{
	uint64_t gfn[4] = { 1, 2, 3, 4 };

	(void)unused;
	for (int hole = 0; hole < 2; hole++) {
		assert_int_equal(map(8, 4, 1000), 0);
		mmap_fails(1, hole, false);
		assert_int_equal(xcbatch_window_map(w, 8, gfn, 4, errs), -ENOMEM);
		if (hole)
			memset(want + 8, 0, 4 * sizeof(*want));
		assert_window();
		assert_int_equal(map(8, 4, 2000), 0);
		mmap_fails(1, hole, false);
		assert_int_equal(xcbatch_window_clear(w, 8, 4), -ENOMEM);
		if (hole)
			memset(want + 8, 0, 4 * sizeof(*want));
		assert_window();
	}
}

/* Somebody else's mapping landed in the hole: it must be left alone. */
static void test_stock_hole_is_taken(void **unused)
{
	const char *slot = (const char *)xcbatch_window_addr(w) + 8 * XCBATCH_PAGE_SIZE;
	uint64_t gfn = 1;

	(void)unused;
	assert_int_equal(map(8, 1, 1000), 0);
	mmap_fails(1, true, true);
	assert_int_equal(xcbatch_window_map(w, 8, &gfn, 1, errs), -ENOMEM);
	assert_int_equal(fake_holds(slot), -2);
}

static void test_stock_rest_is_lost(void **unused)
{
	uint64_t gfns[4] = { 1, 2, 3, 4 };

	(void)unused;
	for (int way = 0; way < 6; way++) {
		assert_int_equal(map(0, FRAMES, 1000), 0);
		fake.errno_of_failure = ENOMEM;
		if (way < 2)		/* the first part's mapping, the second part's */
			mmap_fails(2 + way, way, false);
		else if (way < 4)	/* their map calls */
			fake.fail_ioctl = way - 1;
		else {			/* one of their frames is gone for good */
			fake.paged_gfn = way == 4 ? 1003 : 1000 + 3 * (FRAMES - 1);
			fake.paged_tries = 1000000;
		}
		assert_int_equal(xcbatch_window_map(w, 8, gfns, 4, errs), -ESTALE);
		for (int i = 0; i < 4; i++)
			assert_int_equal(errs[i], -ESTALE);
		memset(want, 0, sizeof(want));
		assert_window();
		fake.paged_tries = 0;
	}
}

/* Cutting takes three mmaps and two map calls; a cut where nothing is held, none. */
static void test_stock_rest_holds_nothing(void **unused)
{
	int before;

	(void)unused;
	assert_int_equal(map(0, FRAMES, FAKE_BAD_GFN), -ENXIO);
	before = fake.calls;
	assert_int_equal(map(5, 1, 7), 0);
	assert_window();
	assert_int_equal(fake.calls, before + 1);
}

/* ---- ours ------------------------------------------------------------------- */

static void test_ours_in_batches(void **unused)
{
	static const size_t batch[] = { 16, 16, 8 };

	(void)unused;
	assert_int_equal(map(0, FRAMES, 1000), 0);
	assert_int_equal(clear(0, FRAMES), 0);
	assert_window();
	assert_int_equal(fake.calls, 6);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(fake.call[i].request, i < 3 ? IOCTL_XENFERRY_MAP : IOCTL_XENFERRY_CLEAR);
		assert_int_equal(fake.call[i].n, batch[i % 3]);
	}
}

static void test_ours_clear_fails(void **unused)
{
	(void)unused;
	assert_int_equal(map(0, FRAMES, 1000), 0);
	fake.fail_ioctl = 2;
	fake.errno_of_failure = EINTR;
	assert_int_equal(xcbatch_window_clear(w, 0, FRAMES), -EINTR);
}

/* ---- at random, against the obvious ------------------------------------------ */

static void test_random(void **unused)
{
	(void)unused;
	srand(1);
	for (int round = 0; round < 1500; round++) {
		size_t first = (size_t)rand() % FRAMES;
		size_t n = 1 + (size_t)rand() % (FRAMES - first);
		int rc;

		if (rand() % 3 == 0) {
			assert_int_equal(clear(first, n), 0);
		} else {
			rc = map(first, n, rand() % 4 ? 1 + (uint64_t)rand() % 5000
						      : FAKE_BAD_GFN - 3 * (uint64_t)(rand() % FRAMES));
			assert_true(rc == 0 || rc == -ENXIO);
		}
		if (rand() % 8 == 0) {
			fake.fail_ioctl = 1;
			fake.errno_of_failure = EPERM;
			assert_int_equal(map(0, FRAMES, 1000), -EPERM);
		}
		assert_window();
		fake.calls = 0;
	}
}

#define BOTH(f) \
	{ #f " (stock)", f, setup_stock, teardown, NULL }, { #f " (ours)", f, setup_ours, teardown, NULL }
#define STOCK(f) cmocka_unit_test_setup_teardown(f, setup_stock, teardown)
#define OURS(f)  cmocka_unit_test_setup_teardown(f, setup_ours, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_query_fails),
		cmocka_unit_test(test_which_driver),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_create_arguments),
		cmocka_unit_test(test_create_fails),
		cmocka_unit_test(test_destroy_in_child),
		BOTH(test_map_arguments),
		BOTH(test_map_and_replace),
		BOTH(test_overlaps),
		BOTH(test_frame_errors),
		BOTH(test_call_fails),
		BOTH(test_paged_out_twice),
		BOTH(test_paged_out_for_ever),
		BOTH(test_try_again_fails),
		STOCK(test_stock_no_memory_to_cut),
		STOCK(test_stock_mmap_refused),
		STOCK(test_stock_hole_is_taken),
		STOCK(test_stock_rest_is_lost),
		STOCK(test_stock_rest_holds_nothing),
		OURS(test_ours_in_batches),
		OURS(test_ours_clear_fails),
		BOTH(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
