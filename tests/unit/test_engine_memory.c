/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages of zeroes, memory in large pieces, and memory that comes and goes while it is copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "enginejob.h"
#include "stream/wire.h"
#include "streamgen.h"
#include "xcbatch.h"

#include <xen/hvm/params.h>

#define FRAMES 6000
#define STORE  5000

static struct simguest from, to;
static struct job save, restore;
static struct xf_transport_mem stream;

/* Holes in the second piece of 2 MiB, in the eighth, and all between the store's page and the rest. */
static int setup(void **state)
{
	(void)state;
	sim_init(&from, FRAMES, false);
	sim_fill(&from, 0, 700);
	sim_fill(&from, 900, 4000);
	sim_fill(&from, STORE, STORE + 1);
	from.params[HVM_PARAM_STORE_PFN] = STORE;
	sim_init(&to, FRAMES, true);
	to.dirty_memory = true;
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

static void move_it(void)
{
	job_move(&save, &restore, &stream.base);
}

/* ---- zeroes ------------------------------------------------------------- */

static void zeroes_without_contents(void **state)
{
	(void)state;
	from.run = sim_work;
	save.elide_zeroes = true;
	move_it();
	/* Each fourth page of 3801 is zero, but for the few the guest wrote to. */
	assert_in_range(stream.size, 2800u * 4096, 3100u * 4096);
}

static void zeroes_with_contents(void **state)
{
	(void)state;
	move_it();
	assert_true(stream.size > 3800u * 4096);
}

static void zeroes_verified(void **state)
{
	(void)state;
	from.run = sim_work;
	save.elide_zeroes = true;
	save.verify = true;
	move_it();
	assert_int_equal(restore.result.mismatches, 0);
}

/* Of a guest that does not run, too: a file for a receiver of ours. */
static void zeroes_of_a_suspended_guest(void **state)
{
	(void)state;
	save.live = false;
	save.elide_zeroes = true;
	move_it();
	assert_in_range(stream.size, 2800u * 4096, 3100u * 4096);
}

/* A page that has contents keeps them: the record says that memory is there, no more. */
static void known_page_without_contents(void **state)
{
	const uint64_t first[] = { xf_page_word(5, XF_PAGE_NOTAB), xf_page_word(0xfeff8 % FRAMES, XF_PAGE_NOTAB) };
	const uint64_t again[] = { xf_page_word(5, XF_PAGE_XALLOC), xf_page_word(6, XF_PAGE_XALLOC) };
	static const char zeroes[XF_PAGE_SIZE];
	uint8_t want[XF_PAGE_SIZE];
	struct gen g = { 0 };

	(void)state;
	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, first, 2);
	gen_pages(&g, again, 2);
	gen_hvm_after_pages(&g);
	xf_transport_mem_free(&stream);
	assert_int_equal(xf_transport_mem_init(&stream, g.data, g.size), 0);
	/* Its parameters name pages this small guest has not: all of memory is in place by then. */
	assert_int_equal(job_restore(&restore, &stream.base), -EINVAL);
	gen_fill(want, 5);
	assert_memory_equal(sim_page(&to, 5), want, sizeof(want));
	assert_memory_equal(sim_page(&to, 6), zeroes, sizeof(zeroes));
	gen_free(&g);
}

/* ---- pieces ------------------------------------------------------------- */

static void pieces_of_2_mib(void **state)
{
	(void)state;
	to.largest_piece = 9;
	move_it();
	/* 0, 1 (312 of 512 pages), 2 to 6, 7 (416); the store's page comes alone. */
	assert_int_equal(to.pieces, 8);
	assert_int_equal(to.populated, 1);
	assert_int_equal(to.given_back, 200 + 96);
}

static void no_piece_to_be_had(void **state)
{
	(void)state;
	move_it();
	assert_true(to.pieces_asked > 0);
	assert_int_equal(to.pieces, 0);
	assert_int_equal(to.populated, 3801);
	assert_int_equal(to.given_back, 0);
}

static void no_piece_wanted(void **state)
{
	(void)state;
	to.largest_piece = 9;
	restore.single_pages = true;
	move_it();
	assert_int_equal(to.pieces_asked, 0);
	assert_int_equal(to.populated, 3801);
}

/* What was taken ahead is given back when memory gets short. */
static void short_of_memory(void **state)
{
	(void)state;
	to.largest_piece = 9;
	to.host_pages = 3801;
	move_it();
	assert_int_equal(to.host_pages, 0);
	assert_true(to.pieces > 4);
}

/* A guest that got more while it was sent than the other side's domain was made for. */
static void more_than_it_may_have(void **state)
{
	(void)state;
	to.refuse_above = 3000;
	assert_int_equal(job_save(&save, &stream.base), 0);
	assert_int_equal(job_restore(&restore, &stream.base), -ENOMEM);
	job_expect_error(&restore, "was made for up to", "send the guest again", NULL);
}

/* Xen's limit for the domain holds for what is taken ahead. */
static void no_more_than_it_may_have(void **state)
{
	(void)state;
	to.largest_piece = 9;
	to.info.max_pages = 3801;
	move_it();
	assert_int_equal(to.pieces, 7);
}

/* As soon as a page comes again: the guest still runs then, and at the end it waits. */
static void given_back_while_the_guest_runs(void **state)
{
	const uint64_t again = xf_page_word(5, XF_PAGE_NOTAB), late = xf_page_word(400, XF_PAGE_NOTAB);
	uint64_t first[300];
	struct gen g = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 300; i++)
		first[i] = xf_page_word(i, XF_PAGE_NOTAB);
	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, first, 300);
	gen_pages(&g, &again, 1);
	gen_pages(&g, &late, 1);
	gen_hvm_after_pages(&g);
	xf_transport_mem_free(&stream);
	assert_int_equal(xf_transport_mem_init(&stream, g.data, g.size), 0);
	to.largest_piece = 9;
	/* Its parameters name pages this small guest has not: all of memory is in place by then. */
	assert_int_equal(job_restore(&restore, &stream.base), -EINVAL);
	assert_int_equal(to.pieces, 1);
	assert_int_equal(to.given_back, 512 - 300);
	assert_int_equal(to.populated, 1);
	gen_free(&g);
}

static void piece_of_1_gib(void **state)
{
	(void)state;
	sim_free(&from);
	sim_free(&to);
	sim_init(&from, 300000, false);
	sim_fill(&from, 0, 2000);
	from.params[HVM_PARAM_STORE_PFN] = 1999;
	sim_init(&to, 300000, true);
	to.largest_piece = 18;
	job_init(&save, &from);
	job_init(&restore, &to);
	move_it();
	assert_int_equal(to.pieces, 1);
	assert_int_equal(to.given_back, (1 << 18) - 2000);
}

static void giving_back_fails(void **state)
{
	unsigned calls;

	(void)state;
	to.largest_piece = 9;
	move_it();
	calls = to.calls;
	for (unsigned at = 1; at <= calls; at++) {
		sim_free(&to);
		sim_init(&to, FRAMES, true);
		to.largest_piece = 9;
		to.fail_at = at;
		job_init(&restore, &to);
		stream.at = 0;
		if (!job_restore(&restore, &stream.base) || strcmp(to.failed, "sim_depopulate"))
			continue;
		job_expect_error(&restore, "Giving memory back", "domain 7", NULL);
		return;
	}
	fail_msg("memory was never given back");
}

/* ---- where memory lies -------------------------------------------------- */

/* A hole between, as large as a PVH guest has: nobody asks what each of its frames is. */
static void holes_are_not_asked_about(void **state)
{
	(void)state;
	sim_free(&from);
	sim_free(&to);
	sim_init(&from, 300000, false);
	sim_fill(&from, 0, 2000);
	sim_fill(&from, 299990, 299998);
	from.params[HVM_PARAM_STORE_PFN] = 299991;
	sim_init(&to, 300000, true);
	job_init(&save, &from);
	job_init(&restore, &to);
	move_it();
	assert_true(from.asked < 8 * GUEST_BATCH);
}

/* What Xen counts can't be found: then everything is looked at. */
static void memory_that_cannot_be_found(void **state)
{
	(void)state;
	from.uncounted = 3;
	move_it();
	assert_true(from.asked >= FRAMES);
}

/* ---- memory that comes and goes ----------------------------------------- */

static unsigned runs;

/* Gone, and later back with other contents, which Xen logs no more than that it came. */
static void away_and_back(struct simguest *s)
{
	if (runs < 3)
		s->types[1234] = XF_PAGE_XTAB;
	if (runs == 3) {
		s->types[1234] = XF_PAGE_NOTAB;
		memset(sim_page(s, 1234), 0x77, GUEST_PAGE_SIZE);
	}
	runs++;
	sim_work(s);
}

static void page_comes_back_unlogged(void **state)
{
	(void)state;
	runs = 0;
	from.run = away_and_back;
	move_it();
	assert_true(job_said(&save, "changed its memory"));
}

static void plugged_in(struct simguest *s)
{
	if (runs++ == 4) {
		sim_fill(s, 4200, 4600);
		s->types[100] = XF_PAGE_XTAB;
	}
	sim_work(s);
}

/* Memory in what was a hole, and a hole in what was memory: the same at the other side. */
static void layout_changes(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		if (asked)
			teardown(state), setup(state);
		runs = 0;
		from.run = plugged_in;
		if (asked) {
			job_ask(&save);
			save.answers[6] = POLICY_STOP;
		}
		move_it();
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(zeroes_without_contents),
		TEST(zeroes_with_contents),
		TEST(zeroes_verified),
		TEST(zeroes_of_a_suspended_guest),
		TEST(known_page_without_contents),
		TEST(pieces_of_2_mib),
		TEST(no_piece_to_be_had),
		TEST(no_piece_wanted),
		TEST(short_of_memory),
		TEST(more_than_it_may_have),
		TEST(no_more_than_it_may_have),
		TEST(given_back_while_the_guest_runs),
		TEST(piece_of_1_gib),
		TEST(giving_back_fails),
		TEST(holes_are_not_asked_about),
		TEST(memory_that_cannot_be_found),
		TEST(page_comes_back_unlogged),
		TEST(layout_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
