/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many threads compare memory: exactly what was written is found, and an error in one of them ends all. Built a second
 * time with the thread sanitizer, so nothing of the simulated guest, which writes while it is looked at, is in here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content.h"
#include "stream/wire.h"

#define FRAMES 6200	/* the last range is a part of one */

struct flat_guest {
	struct guest base;
	char *memory;
	uint64_t fails_at;	/* mapping what has this frame fails; ~0: none */
	unsigned calls[GUEST_LANES];
};

static struct flat_guest guest;
static struct xcbatch_content *sent;
static uint64_t *ram, *map;

static int map_lane(struct guest *g, unsigned lane, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	struct flat_guest *f = (struct flat_guest *)g;

	assert_true(lane < GUEST_LANES && n > 0 && n <= GUEST_BATCH);
	f->calls[lane]++;	/* each lane is one thread's */
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(gfns[i], gfns[0] + i);
		if (gfns[i] == f->fails_at)
			return -EIO;
		errs[i] = 0;
	}
	*base = f->memory + gfns[0] * GUEST_PAGE_SIZE;
	return 0;
}

static const struct guest_ops ops = { .map_lane = map_lane };

/* ---- what is not to be had ---------------------------------------------- */

static bool no_threads, no_memory;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *data);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *data);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *data)
{
	return no_threads ? EAGAIN : __real_pthread_create(t, attr, f, data);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static int setup(void **state)
{
	size_t words = xcbatch_bitmap_words(FRAMES);

	(void)state;
	no_threads = no_memory = false;
	guest = (struct flat_guest) { .base = { .ops = &ops, .domid = 7 }, .fails_at = ~UINT64_C(0) };
	guest.memory = aligned_alloc(GUEST_PAGE_SIZE, (size_t)FRAMES * GUEST_PAGE_SIZE);
	ram = calloc(words, sizeof(*ram));
	map = calloc(words, sizeof(*map));
	assert_non_null(guest.memory);
	memset(guest.memory, 0, (size_t)FRAMES * GUEST_PAGE_SIZE);
	xcbatch_bitmap_fill(ram, FRAMES);
	xcbatch_bitmap_fill(map, FRAMES);
	assert_int_equal(xcbatch_content_create(FRAMES, &sent), 0);
	for (uint64_t i = 0; i < FRAMES; i++) {
		memcpy(guest.memory + i * GUEST_PAGE_SIZE, &i, sizeof(i));
		assert_int_equal(xcbatch_content_note(sent, i, XF_PAGE_NOTAB, guest.memory + i * GUEST_PAGE_SIZE), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	xcbatch_content_destroy(sent);
	free(guest.memory);
	free(ram);
	free(map);
	return 0;
}

static int scan(unsigned threads, struct content_scan *s, struct xf_error *err)
{
	*s = (struct content_scan) {
		.guest = &guest.base, .sent = sent, .ram = ram, .map = map, .frames = FRAMES, .threads = threads,
	};
	return content_scan(s, err);
}

static void exactly_what_was_written(void **state)
{
	struct xf_error err = { .code = 0 };
	struct content_scan s;
	uint64_t at = 1;

	(void)state;
	for (unsigned threads = 1; threads <= GUEST_LANES; threads += 5) {
		uint64_t written = 0;

		xcbatch_bitmap_fill(map, FRAMES);
		for (uint64_t i = 0; i < FRAMES; i++) {
			at = at * 6364136223846793005u + 1442695040888963407u;
			guest.memory[i * GUEST_PAGE_SIZE + 4095] = at >> 60 == 0;
			written += at >> 60 == 0;
		}
		assert_int_equal(scan(threads, &s, &err), 0);
		assert_int_equal(s.looked, FRAMES);
		assert_int_equal(xcbatch_bitmap_count(map, FRAMES), written);
		for (uint64_t i = 0; i < FRAMES; i++)
			assert_int_equal(xcbatch_bitmap_test(map, i), guest.memory[i * GUEST_PAGE_SIZE + 4095]);
	}
}

/* Not asked for: not looked at, and not reported. No memory: reported without a look. */
static void only_what_is_asked_for(void **state)
{
	struct xf_error err = { .code = 0 };
	struct content_scan s;

	(void)state;
	for (uint64_t i = 1; i < FRAMES; i++)
		xcbatch_bitmap_clear(map, i);
	xcbatch_bitmap_set(map, 3000);
	xcbatch_bitmap_clear(ram, 3000);
	assert_int_equal(scan(4, &s, &err), 0);
	assert_int_equal(s.looked, 1);
	assert_int_equal(xcbatch_bitmap_count(map, FRAMES), 1);
	assert_true(xcbatch_bitmap_test(map, 3000));
}

static void an_error_ends_all(void **state)
{
	struct content_scan s;

	(void)state;
	for (unsigned threads = 1; threads <= GUEST_LANES; threads += 5) {
		struct xf_error err = { .code = 0 };

		guest.fails_at = FRAMES - 1;
		assert_int_equal(scan(threads, &s, &err), -EIO);
		assert_int_equal(err.code, -EIO);
		assert_non_null(strstr(err.text, "Mapping pages to compare of domain 7 failed"));
	}
}

static void the_caller_alone_does_it(void **state)
{
	struct xf_error err = { .code = 0 };
	struct content_scan s;

	(void)state;
	no_threads = true;
	guest.memory[GUEST_PAGE_SIZE * 5000] ^= 1;
	assert_int_equal(scan(8, &s, &err), 0);
	assert_int_equal(s.looked, FRAMES);
	assert_int_equal(xcbatch_bitmap_count(map, FRAMES), 1);
	for (unsigned lane = 1; lane < 8; lane++)
		assert_int_equal(guest.calls[lane], 0);
}

static void no_memory_to_compare(void **state)
{
	struct xf_error err = { .code = 0 };
	struct content_scan s;

	(void)state;
	no_memory = true;
	assert_int_equal(scan(2, &s, &err), -ENOMEM);
	no_memory = false;
	assert_non_null(strstr(err.text, "Preparing to compare the memory of domain 7 failed"));
	assert_int_equal(xcbatch_bitmap_count(map, FRAMES), FRAMES);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(exactly_what_was_written),
		TEST(only_what_is_asked_for),
		TEST(an_error_ends_all),
		TEST(the_caller_alone_does_it),
		TEST(no_memory_to_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
