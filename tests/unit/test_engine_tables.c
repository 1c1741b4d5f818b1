/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that don't go out as they lie in memory: page tables, and private copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engine/batch.h"
#include "enginejob.h"
#include "stream/wire.h"

#define FRAMES 1300
#define TABLE  40

static struct simguest from, to;
static struct job save, restore;
static struct xf_transport_mem stream;
static struct guest_ops ops;
static unsigned refusals;	/* so many calls find an entry without a translation, */
static unsigned translated;	/* after so many that don't */
static int refuse_with;

/* Whether this call is one of them; several threads call. */
static bool refuses(void)
{
	unsigned left = __atomic_load_n(&translated, __ATOMIC_RELAXED);

	while (left)
		if (__atomic_compare_exchange_n(&translated, &left, left - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return false;
	left = __atomic_load_n(&refusals, __ATOMIC_RELAXED);
	while (left && !__atomic_compare_exchange_n(&refusals, &left, left - 1, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
		;
	return left;
}

/* An entry as the stream has it is the one in memory upside down. */
static int normalise(struct guest *g, uint8_t type, const void *page, void *copy)
{
	const uint64_t *entry = page;
	uint64_t *out = copy;

	(void)g;
	assert_int_equal(type & ~XF_PAGE_PINNED, XF_PAGE_L1TAB);
	if (refuses())
		return refuse_with;
	for (size_t i = 0; i < GUEST_PAGE_SIZE / sizeof(*out); i++)
		out[i] = ~entry[i];
	return 0;
}

static int setup(void **state)
{
	(void)state;
	sim_init(&from, FRAMES, false);
	sim_fill(&from, 0, 1200);
	from.types[TABLE] = XF_PAGE_L1TAB;
	from.types[TABLE + 3] = XF_PAGE_L1TAB | XF_PAGE_PINNED;	/* all zeroes */
	ops = *from.base.ops;
	ops.normalise = normalise;
	from.base.ops = &ops;
	refusals = translated = 0;
	refuse_with = -EAGAIN;
	sim_init(&to, FRAMES, true);
	job_init(&save, &from);
	job_init(&restore, &to);
	return xf_transport_mem_init(&stream, NULL, 0);
}

static int teardown(void **state)
{
	(void)state;
	xf_transport_mem_free(&stream);
	sim_free(&from);
	sim_free(&to);
	return 0;
}

static void expect_arrived(void)
{
	for (uint64_t gfn = 0; gfn < 1200; gfn++) {
		char want[GUEST_PAGE_SIZE];

		memcpy(want, sim_page(&from, gfn), sizeof(want));
		if (from.types[gfn] != XF_PAGE_NOTAB)
			normalise(&from.base, from.types[gfn], sim_page(&from, gfn), want);
		if (memcmp(want, sim_page(&to, gfn), sizeof(want)))
			fail_msg("page 0x%llx did not arrive as it should", (unsigned long long)gfn);
	}
}

static void move_tables(void)
{
	if (job_save(&save, &stream.base))
		fail_msg("%s", save.err.text);
	if (job_restore(&restore, &stream.base))
		fail_msg("%s", restore.err.text);
	expect_arrived();
}

static void tables_go_out_normalised(void **state)
{
	(void)state;
	from.run = sim_work;
	save.elide_zeroes = true;
	move_tables();
}

static void tables_of_a_suspended_guest(void **state)
{
	(void)state;
	save.live = false;
	move_tables();
}

/* A page becomes a table after its type was asked: it must be seen. */
static void become_a_table(struct simguest *s)
{
	if (s->calls > 12)
		s->types[TABLE + 1] = XF_PAGE_L1TAB;
	sim_write(s, TABLE + 1, s->calls);
}

static void types_are_asked_each_time(void **state)
{
	(void)state;
	from.run = become_a_table;
	move_tables();
	assert_int_equal(from.types[TABLE + 1], XF_PAGE_L1TAB);
}

static void untranslatable_waits_for_the_last_copy(void **state)
{
	(void)state;
	refusals = 1;
	move_tables();
	assert_int_equal(refusals, 0);
}

static void untranslatable_of_a_suspended_guest(void **state)
{
	(void)state;
	refusals = 1000;
	assert_int_equal(job_save(&save, &stream.base), -EAGAIN);
	job_expect_error(&save, "page table at pfn 0x28", "domain 7", "expected entries", NULL);
	job_expect_quiet(&save);
}

static void broken_normalise_is_an_error(void **state)
{
	(void)state;
	refusals = 1;
	refuse_with = -EIO;
	assert_int_equal(job_save(&save, &stream.base), -EIO);
	job_expect_error(&save, "page table at pfn 0x28", NULL);
	job_expect_quiet(&save);
}

/* ---- the same, tracked by content --------------------------------------- */

static void by_content(void)
{
	from.no_log_dirty = true;
	save.threads = 3;
}

static void tables_tracked_by_content(void **state)
{
	(void)state;
	by_content();
	from.run = sim_work;
	save.elide_zeroes = true;
	move_tables();
}

/* Pages become tables and are none any more, pinned and not, and no byte of them changes. */
static void change_types(struct simguest *s)
{
	static const uint8_t kinds[] = { XF_PAGE_NOTAB, XF_PAGE_L1TAB, XF_PAGE_L1TAB | XF_PAGE_PINNED };

	for (uint64_t gfn = 100; gfn < 200; gfn++)
		s->types[gfn] = kinds[(gfn + s->calls) % 3];
}

static void types_that_change_are_found(void **state)
{
	(void)state;
	by_content();
	from.run = change_types;
	move_tables();
}

/* Whatever call it is that finds an entry without a translation: of the copy, of a comparison. */
static void untranslatable_counts_as_dirty(void **state)
{
	(void)state;
	/* Two tables are copied, and then compared. */
	for (unsigned before = 0; before < 4; before++) {
		by_content();
		from.run = sim_work;
		refusals = 1;
		translated = before;
		move_tables();
		assert_int_equal(refusals, 0);
		teardown(state);
		setup(state);
	}
}

static void fail_later(struct simguest *s)
{
	if (s->calls > 12 && !s->info.suspended)
		refusals = 1;
}

static void broken_normalise_ends_the_comparison(void **state)
{
	(void)state;
	by_content();
	from.run = fail_later;
	refuse_with = -EIO;
	assert_int_equal(job_save(&save, &stream.base), -EIO);
	job_expect_error(&save, "age table", "domain 7", NULL);
	job_expect_quiet(&save);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(tables_go_out_normalised),
		TEST(tables_of_a_suspended_guest),
		TEST(types_are_asked_each_time),
		TEST(untranslatable_waits_for_the_last_copy),
		TEST(untranslatable_of_a_suspended_guest),
		TEST(broken_normalise_is_an_error),
		TEST(tables_tracked_by_content),
		TEST(types_that_change_are_found),
		TEST(untranslatable_counts_as_dirty),
		TEST(broken_normalise_ends_the_comparison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
