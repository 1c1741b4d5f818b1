/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The dirty tracker, and the explained errors, against a fake hypervisor. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xenctrl.h>

#include "xcbatch.h"

#define DOMID  7
#define FRAMES 1003	/* neither whole bytes nor whole words */
#define WORDS  16

static struct {
	int handles, buffers;
	bool on;
	int fail_open, fail_buffer, fail_alloc, fail_enable, fail_off, fail_clean, fail_peek, fail_version;
	unsigned last_mode;
	unsigned char bitmap[WORDS * 8];	/* what the guest wrote */
	size_t covers;				/* bytes of it the hypervisor reports */
	int offs;
} xen;

static const uint64_t *xen_buffer;

xc_interface *__wrap_xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild,
				       unsigned flags);
int __wrap_xc_interface_close(xc_interface *xch);
int __wrap_xc_shadow_control(xc_interface *xch, uint32_t domid, unsigned sop, unsigned *mb, unsigned mode);
long long __wrap_xc_logdirty_control(xc_interface *xch, uint32_t domid, unsigned sop,
				     xc_hypercall_buffer_t *map, unsigned long pages, unsigned mode,
				     xc_shadow_op_stats_t *stats);
int __wrap_xc_version(xc_interface *xch, int cmd, void *arg);
void *__wrap_xc__hypercall_buffer_alloc_pages(xc_interface *xch, xc_hypercall_buffer_t *b, int nr);
void __wrap_xc__hypercall_buffer_free_pages(xc_interface *xch, xc_hypercall_buffer_t *b, int nr);
void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);

static bool refused(int error)
{
	errno = error;
	return error != 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return xen.fail_alloc && --xen.fail_alloc == 0 ? NULL : __real_calloc(n, size);
}

xc_interface *__wrap_xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild,
				       unsigned flags)
{
	/* Without a logger of the caller's libxenctrl prints to stderr. */
	assert_non_null(logger);
	assert_ptr_equal(logger, dombuild);
	assert_int_equal(flags, 0);
	if (refused(xen.fail_open))
		return NULL;
	xen.handles++;
	return (xc_interface *)&xen;
}

int __wrap_xc_interface_close(xc_interface *xch)
{
	assert_ptr_equal(xch, &xen);
	xen.handles--;
	return 0;
}

void *__wrap_xc__hypercall_buffer_alloc_pages(xc_interface *xch, xc_hypercall_buffer_t *b, int nr)
{
	(void)xch;
	if (xen.fail_buffer)
		return NULL;
	assert_int_equal(nr, 1);
	xen.buffers++;
	b->hbuf = malloc((size_t)nr * XC_PAGE_SIZE);
	xen_buffer = b->hbuf;
	return b->hbuf;
}

void __wrap_xc__hypercall_buffer_free_pages(xc_interface *xch, xc_hypercall_buffer_t *b, int nr)
{
	(void)xch;
	assert_int_equal(nr, 1);
	assert_ptr_equal(b->hbuf, xen_buffer);
	xen.buffers--;
	free(b->hbuf);
}

int __wrap_xc_shadow_control(xc_interface *xch, uint32_t domid, unsigned sop, unsigned *mb, unsigned mode)
{
	assert_ptr_equal(xch, &xen);
	assert_int_equal(domid, DOMID);
	assert_null(mb);
	assert_int_equal(mode, 0);
	if (sop == XEN_DOMCTL_SHADOW_OP_OFF) {
		xen.offs++;
		if (refused(xen.fail_off))
			return -1;
		xen.on = false;
		return 0;
	}
	assert_int_equal(sop, XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY);
	if (refused(xen.fail_enable) || refused(xen.on ? EINVAL : 0))
		return -1;
	xen.on = true;
	return 0;
}

static unsigned bits_set(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(xen.bitmap); i++)
		n += (unsigned)__builtin_popcount(xen.bitmap[i]);
	return n;
}

long long __wrap_xc_logdirty_control(xc_interface *xch, uint32_t domid, unsigned sop,
				     xc_hypercall_buffer_t *map, unsigned long pages, unsigned mode,
				     xc_shadow_op_stats_t *stats)
{
	assert_ptr_equal(xch, &xen);
	assert_int_equal(domid, DOMID);
	stats->fault_count = 0;
	stats->dirty_count = bits_set();
	if (sop == XEN_DOMCTL_SHADOW_OP_PEEK) {
		assert_null(map);
		return refused(xen.fail_peek) ? -1 : 0;
	}
	assert_int_equal(sop, XEN_DOMCTL_SHADOW_OP_CLEAN);
	if (refused(xen.fail_clean))
		return -1;
	assert_int_equal(pages, FRAMES);
	assert_ptr_equal(map->hbuf, xen_buffer);
	xen.last_mode = mode;
	memcpy(map->hbuf, xen.bitmap, xen.covers);
	memset(xen.bitmap, 0, sizeof(xen.bitmap));
	return (long long)pages;
}

int __wrap_xc_version(xc_interface *xch, int cmd, void *arg)
{
	assert_ptr_equal(xch, &xen);
	assert_int_equal(cmd, XENVER_version);
	assert_null(arg);
	return refused(xen.fail_version) ? -1 : 4 << 16 | 18;
}

static int setup(void **unused)
{
	(void)unused;
	memset(&xen, 0, sizeof(xen));
	xen.covers = (FRAMES + 7) / 8;
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	assert_int_equal(xen.handles, 0);
	assert_int_equal(xen.buffers, 0);
	return 0;
}

static void wrote(unsigned gfn)
{
	xen.bitmap[gfn / 8] |= (unsigned char)(1u << (gfn % 8));
}

static void test_arguments(void **unused)
{
	struct xcbatch_dirty *d = NULL;
	uint64_t map[WORDS];

	(void)unused;
	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, NULL), -EINVAL);
	assert_int_equal(xcbatch_dirty_start(DOMID, 0, &d), -EINVAL);
	assert_int_equal(xcbatch_dirty_start(DOMID, UINT64_MAX, &d), -EINVAL);
	assert_int_equal(xcbatch_dirty_start(DOMID, (UINT64_C(1) << 36) + 1, &d), -EINVAL);
	assert_int_equal(xcbatch_dirty_start(0x7ff0, FRAMES, &d), -EINVAL);
	assert_int_equal(xcbatch_dirty_start(65536 + DOMID, FRAMES, &d), -EINVAL);
	assert_int_equal(xcbatch_dirty_takeover(DOMID, 0, &d), -EINVAL);
	assert_null(d);
	assert_int_equal(xcbatch_dirty_stop(NULL), 0);
	assert_int_equal(xcbatch_dirty_collect(NULL, map, NULL), -EINVAL);
	assert_int_equal(xcbatch_dirty_peek(NULL, map), -EINVAL);
	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, &d), 0);
	assert_int_equal(xcbatch_dirty_collect(d, NULL, NULL), -EINVAL);
	assert_int_equal(xcbatch_dirty_collect_last(d, NULL, NULL), -EINVAL);
	assert_int_equal(xcbatch_dirty_peek(d, NULL), -EINVAL);
	assert_int_equal(xcbatch_dirty_stop(d), 0);
}

static void test_rounds(void **unused)
{
	static const unsigned first[] = { 0, 1, 63, 64, 500, FRAMES - 1 };
	uint64_t map[WORDS + 1], dirty = 99;
	struct xcbatch_dirty *d;

	(void)unused;
	memset(map, 0xff, sizeof(map));
	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, &d), 0);
	assert_true(xen.on);
	for (int i = 0; i < 6; i++)
		wrote(first[i]);
	assert_int_equal(xcbatch_dirty_peek(d, &dirty), 0);
	assert_int_equal(dirty, 6);
	assert_int_equal(xcbatch_dirty_collect(d, map, &dirty), 0);
	assert_int_equal(dirty, 6);
	assert_int_equal(xcbatch_bitmap_count(map, FRAMES), 6);
	for (int i = 0; i < 6; i++)
		assert_true(xcbatch_bitmap_test(map, first[i]));
	assert_int_equal(xen.last_mode, 0);
	/* Not a word further than promised. */
	assert_true(map[WORDS] == UINT64_MAX);
	/* It began anew. */
	wrote(7);
	assert_int_equal(xcbatch_dirty_collect_last(d, map, NULL), 0);
	assert_int_equal(xcbatch_bitmap_count(map, FRAMES), 1);
	assert_true(xcbatch_bitmap_test(map, 7));
	assert_int_equal(xen.last_mode, XEN_DOMCTL_SHADOW_LOGDIRTY_FINAL);
	assert_int_equal(xcbatch_dirty_stop(d), 0);
	assert_false(xen.on);
}

/* The hypervisor writes whole bytes: the bits beyond the last frame mean nothing. */
static void test_bits_beyond_the_end(void **unused)
{
	uint64_t map[WORDS], dirty;
	struct xcbatch_dirty *d;

	(void)unused;
	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, &d), 0);
	memset(xen.bitmap, 0xff, xen.covers);
	assert_int_equal(xcbatch_dirty_collect(d, map, &dirty), 0);
	assert_int_equal(dirty, FRAMES);
	assert_int_equal(map[WORDS - 1] >> (FRAMES % 64), 0);
	xcbatch_dirty_stop(d);
}

/* A guest smaller than asked for: the rest is clean, not what was there before. */
static void test_hypervisor_covers_less(void **unused)
{
	uint64_t map[WORDS], dirty;
	struct xcbatch_dirty *d;

	(void)unused;
	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, &d), 0);
	memset(xen.bitmap, 0xff, xen.covers);
	assert_int_equal(xcbatch_dirty_collect(d, map, &dirty), 0);
	xen.covers = 8;
	assert_int_equal(xcbatch_dirty_collect(d, map, &dirty), 0);
	assert_int_equal(dirty, 0);
	xcbatch_dirty_stop(d);
}

static void assert_start_fails(int expected)
{
	struct xcbatch_dirty *d = NULL;

	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, &d), expected);
	assert_null(d);
	assert_int_equal(xen.handles, 0);
	assert_int_equal(xen.buffers, 0);
}

static void test_start_fails(void **unused)
{
	static const struct { int from_xen, expected; } enable[] = {
		{ ESRCH, -ESRCH }, { EOPNOTSUPP, -EOPNOTSUPP }, { EPERM, -EPERM },
		{ EINVAL, -EBUSY }, { EACCES, -EPROTO },
	};

	(void)unused;
	for (int i = 1; i <= 2; i++) {
		xen.fail_alloc = i;
		assert_start_fails(-ENOMEM);
	}
	xen.fail_buffer = 1;
	assert_start_fails(-ENOMEM);
	xen.fail_buffer = 0;
	/* No permission to open the device is not another interface. */
	xen.fail_open = EACCES;
	assert_start_fails(-EACCES);
	xen.fail_open = 0;
	for (size_t i = 0; i < sizeof(enable) / sizeof(enable[0]); i++) {
		xen.fail_enable = enable[i].from_xen;
		assert_start_fails(enable[i].expected);
	}
	assert_int_equal(xen.offs, 0);
}

static void test_on_already(void **unused)
{
	struct xcbatch_dirty *d = NULL;

	(void)unused;
	xen.on = true;
	assert_start_fails(-EBUSY);
	assert_true(xen.on);
	assert_int_equal(xcbatch_dirty_takeover(DOMID, FRAMES, &d), 0);
	assert_int_equal(xen.offs, 1);
	assert_int_equal(xcbatch_dirty_stop(d), 0);
	/* Nothing to take over: nothing is switched off. */
	assert_int_equal(xcbatch_dirty_takeover(DOMID, FRAMES, &d), 0);
	assert_int_equal(xen.offs, 2);
	assert_int_equal(xcbatch_dirty_stop(d), 0);
	d = NULL;
	xen.fail_enable = EINVAL;
	assert_int_equal(xcbatch_dirty_takeover(DOMID, FRAMES, &d), -EINVAL);
	xen.fail_off = EPERM;
	assert_int_equal(xcbatch_dirty_takeover(DOMID, FRAMES, &d), -EPERM);
	assert_null(d);
}

static void test_calls_fail(void **unused)
{
	uint64_t map[WORDS], dirty = 99;
	struct xcbatch_dirty *d;

	(void)unused;
	memset(map, 0x55, sizeof(map));
	assert_int_equal(xcbatch_dirty_start(DOMID, FRAMES, &d), 0);
	xen.fail_clean = ENOMEM;
	assert_int_equal(xcbatch_dirty_collect(d, map, &dirty), -ENOMEM);
	assert_int_equal(xcbatch_dirty_collect_last(d, map, &dirty), -ENOMEM);
	xen.fail_peek = ESRCH;
	assert_int_equal(xcbatch_dirty_peek(d, &dirty), -ESRCH);
	assert_int_equal(dirty, 99);
	assert_int_equal(map[0], 0x5555555555555555);
	/* Let go of, it stays on. */
	xcbatch_dirty_leave_on(d);
	xcbatch_dirty_leave_on(NULL);
	assert_true(xen.on);
	assert_int_equal(xcbatch_dirty_takeover(DOMID, FRAMES, &d), 0);
	/* What can't be switched off is given back all the same. */
	xen.fail_off = ESRCH;
	assert_int_equal(xcbatch_dirty_stop(d), -ESRCH);
}

static void assert_explained(int err, const char *part)
{
	char text[512];
	int n = xcbatch_explain(err, text, sizeof(text));

	assert_in_range(n, 9, sizeof(text) - 1);
	assert_int_equal(strlen(text), n);
	assert_non_null(strstr(text, part));
	assert_int_equal(text[n - 1], '.');
}

static void test_explain(void **unused)
{
	char small[8], interface[64];

	(void)unused;
	snprintf(interface, sizeof(interface), "refuses control interface %u", XEN_DOMCTL_INTERFACE_VERSION);
	assert_explained(0, "No error");
	assert_explained(-ENOENT, "/dev/xen/privcmd");
	assert_explained(-EACCES, "root");
	assert_explained(-EPERM, "Dom0");
	assert_explained(-ESRCH, "xl list");
	assert_explained(-EBUSY, "Log-dirty is on");
	assert_explained(-EOPNOTSUPP, "PVH guest");
	assert_explained(-ENXIO, "frames could not be mapped");
	assert_explained(-ESTALE, "stock driver");
	assert_explained(-ENOTTY, "stock xen-privcmd");
	assert_explained(-EIO, "error 5");
	assert_explained(-EPROTO, "running Xen is 4.18 ");
	assert_explained(-EPROTO, interface);
	xen.fail_version = EPERM;
	assert_explained(-EPROTO, interface);
	xen.fail_open = ENOENT;
	assert_explained(-EPROTO, interface);
	assert_true(xcbatch_explain(-ESRCH, small, sizeof(small)) > 8);
	assert_int_equal(strlen(small), 7);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_arguments),
		TEST(test_rounds),
		TEST(test_bits_beyond_the_end),
		TEST(test_hypervisor_covers_less),
		TEST(test_start_fails),
		TEST(test_on_already),
		TEST(test_calls_fail),
		TEST(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
