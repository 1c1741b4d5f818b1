/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guests tracked by content: what changes is found, whatever happens meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content.h"
#include "enginejob.h"
#include "stream/wire.h"
#include "xcbatch.h"

#include <xen/hvm/params.h>

#define FRAMES 6000
#define STORE  5000

static struct simguest from, to;
static struct job save, restore;
static struct xf_transport_mem stream;
static unsigned turns;		/* of the guest, for those that count them */

/* ---- memory that is not to be had --------------------------------------- */

static bool no_tracker, no_copies;
static unsigned notes_left;	/* before there is no memory for another; 0: without limit */

int __real_xcbatch_content_create(uint64_t frames, struct xcbatch_content **out);
int __wrap_xcbatch_content_create(uint64_t frames, struct xcbatch_content **out);
int __wrap_xcbatch_content_create(uint64_t frames, struct xcbatch_content **out)
{
	return no_tracker ? -ENOMEM : __real_xcbatch_content_create(frames, out);
}

int __real_xcbatch_content_note(struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page);
int __wrap_xcbatch_content_note(struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page);
int __wrap_xcbatch_content_note(struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page)
{
	if (notes_left && !--notes_left)
		return -ENOMEM;
	return __real_xcbatch_content_note(c, frame, tag, page);
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return no_copies ? NULL : __real_aligned_alloc(alignment, size);
}

static int setup(void **state)
{
	(void)state;
	sim_init(&from, FRAMES, false);
	sim_fill(&from, 0, 700);
	sim_fill(&from, 900, 4000);
	sim_fill(&from, STORE, STORE + 1);
	from.params[HVM_PARAM_STORE_PFN] = STORE;
	from.no_log_dirty = true;
	sim_init(&to, FRAMES, true);
	to.dirty_memory = true;
	job_init(&save, &from);
	save.threads = 4;
	job_init(&restore, &to);
	turns = 0;
	no_tracker = no_copies = false;
	notes_left = 0;
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
	assert_int_equal(from.starts, 1);
	assert_int_equal(from.stops, 1);
	assert_int_equal(save.suspends, 1);
}

static double megabytes(void)
{
	return (double)stream.size / 4096 / 1000;
}

/* ---- what is found ------------------------------------------------------ */

static void idle_guest(void **state)
{
	(void)state;
	move_it();
	assert_true(megabytes() < 3.9);		/* each page once */
	assert_true(job_said(&save, "tracked by content, by 4 threads (this Xen has no log-dirty for it)"));
}

static void working_guest(void **state)
{
	(void)state;
	from.run = sim_work;
	move_it();
	assert_true(megabytes() < 6);
}

static void working_guest_without_its_zeroes(void **state)
{
	(void)state;
	from.run = sim_work;
	save.elide_zeroes = true;
	move_it();
}

static void busy_guest(void **state)
{
	(void)state;
	from.run = sim_rewrite;
	save.limits.max_rounds = 4;
	move_it();
}

static void one_thread_and_many(void **state)
{
	(void)state;
	from.run = sim_work;
	save.threads = *state ? 1000 : 1;
	move_it();
}

static void forced_where_there_is_log_dirty(void **state)
{
	(void)state;
	from.no_log_dirty = false;
	from.run = sim_work;
	save.tracker = TRACKER_CONTENT;
	move_it();
	assert_true(job_said(&save, "(as the configuration asks)"));
	assert_int_equal(from.tracked, 0);
}

static void log_dirty_where_there_is_one(void **state)
{
	(void)state;
	from.no_log_dirty = false;
	from.run = sim_work;
	move_it();
	assert_false(job_said(&save, "by content"));
	assert_int_equal(from.tracked, FRAMES);
}

static void log_dirty_forced_where_there_is_none(void **state)
{
	(void)state;
	save.tracker = TRACKER_LOG_DIRTY;
	assert_int_equal(job_save(&save, &stream.base), -EOPNOTSUPP);
	job_expect_error(&save, "no log-dirty for domain 7", "set the tracker to", NULL);
	job_expect_quiet(&save);
	assert_int_equal(save.suspends, 0);
}

/* A save that fails at the first call of op, with rc. */
static void save_failing_at(const char *op, int rc)
{
	for (from.fail_at = 1; ; from.fail_at++) {
		from.calls = 0;
		from.failed = NULL;
		from.fail_with = rc;
		save.err.code = 0;
		assert_int_equal(job_save(&save, &stream.base), rc);
		if (!strcmp(from.failed, op))
			break;
	}
	job_expect_quiet(&save);
	assert_int_equal(save.suspends, 0);
}

static void other_errors_are_not_taken_for_it(void **state)
{
	(void)state;
	from.no_log_dirty = false;
	save_failing_at("sim_dirty_start", -EBUSY);
	job_expect_error(&save, "Enabling log-dirty", NULL);
}

/* xenferry dirty-rate, or another migration, has the domain: with either tracker it is said what to do. */
static void somebody_has_it(void **state)
{
	(void)state;
	from.no_log_dirty = false;
	save_failing_at("sim_dirty_start", -EALREADY);
	job_expect_error(&save, "of domain 7", "\"xenferry dirty-rate\"", "let that end, or end it, and try again", NULL);
	save.tracker = TRACKER_CONTENT;
	save_failing_at("sim_guard_start", -EALREADY);
	job_expect_error(&save, "of domain 7", "\"xenferry dirty-rate\"", "let that end, or end it, and try again", NULL);
}

/* ---- between looking and sending ---------------------------------------- */

/* A page is B only while it is on its way: had it been hashed before, nobody would look for the B that was sent. */
#define FICKLE 321

static ssize_t (*plain_writev)(struct xf_transport *t, const struct iovec *iov, int n);
static unsigned fickle;

static ssize_t writev_of_a_fickle_guest(struct xf_transport *t, const struct iovec *iov, int n)
{
	char *page = sim_page(&from, FICKLE), before[GUEST_PAGE_SIZE];
	ssize_t put;

	memcpy(before, page, sizeof(before));
	if (!from.info.suspended) {
		memset(page, 0xbb, GUEST_PAGE_SIZE);
		fickle++;
	}
	put = plain_writev(t, iov, n);
	memcpy(page, before, sizeof(before));
	return put;
}

static void changed_and_back_while_it_is_sent(void **state)
{
	struct xf_transport_ops ops = *stream.base.ops;

	(void)state;
	plain_writev = ops.writev;
	ops.writev = writev_of_a_fickle_guest;
	stream.base.ops = &ops;
	move_it();
	assert_true(fickle > 0);
}

/* A page of zeroes that goes without contents, written right after. */
static void write_to_zeroes(struct simguest *s)
{
	if (turns++ == 8)
		memset(sim_page(s, 3), 0x11, 100);
}

static void zeroes_that_are_written_to(void **state)
{
	(void)state;
	from.run = write_to_zeroes;
	save.elide_zeroes = true;
	move_it();
	assert_true(turns > 8);
}

/* ---- whatever fails ----------------------------------------------------- */

static bool fault(unsigned at)
{
	struct xf_transport_mem t;
	struct simguest s;
	struct job j;
	bool reached;
	int rc;

	sim_init(&s, 600, false);
	sim_fill(&s, 0, 500);
	s.run = sim_work;
	s.no_log_dirty = true;
	s.fail_at = at;
	job_init(&j, &s);
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	rc = job_save(&j, &t.base);
	reached = s.failed != NULL;
	if (reached && !strcmp(s.failed, "sim_dirty_stop"))
		assert_true(job_said(&j, "of domain 7 failed") || job_said(&j, "for domain 7 failed"));
	else
		assert_int_equal(rc, reached ? -EIO : 0);
	if (rc)
		job_expect_error(&j, "domain 7", NULL);
	job_expect_quiet(&j);
	assert_int_equal(s.starts, s.stops);
	xf_transport_mem_free(&t);
	sim_free(&s);
	return reached;
}

static void each_op_may_fail(void **state)
{
	unsigned at;

	(void)state;
	for (at = 1; fault(at); at++)
		;
	assert_true(at > 25);
}

static void expect_no_memory(const char *part)
{
	assert_int_equal(job_save(&save, &stream.base), -ENOMEM);
	job_expect_error(&save, part, "domain 7", NULL);
	job_expect_quiet(&save);
	assert_int_equal(save.suspends, 0);
}

static void no_memory_for_the_tracker(void **state)
{
	(void)state;
	no_tracker = true;
	expect_no_memory("Preparing to track the memory by content");
}

static void no_memory_for_copies(void **state)
{
	(void)state;
	no_copies = true;
	expect_no_memory("No memory for copies of 1024 pages");
}

static void no_memory_for_a_note(void **state)
{
	(void)state;
	notes_left = 1000;
	expect_no_memory("No memory to note what was sent");
}

/* Page 3 is the first that goes without contents. */
static void no_memory_for_a_note_of_zeroes(void **state)
{
	(void)state;
	save.elide_zeroes = true;
	notes_left = 4;
	expect_no_memory("No memory to note what was sent");
}

/* ---- memory that comes and goes ----------------------------------------- */

static void page_that_goes_for_good(struct simguest *s)
{
	if (++turns == 8)
		s->types[100] = XF_PAGE_XTAB;
}

static void a_page_goes(void **state)
{
	(void)state;
	from.run = page_that_goes_for_good;
	move_it();
	assert_int_equal(to.types[100], XF_PAGE_XTAB);
}

/* As many as before, so that nobody sees it from how many there are. */
static void page_that_moves(struct simguest *s)
{
	if (++turns != *(unsigned *)sim_page(s, STORE))
		return;
	s->types[100] = XF_PAGE_XTAB;
	s->types[4500] = XF_PAGE_NOTAB;
	memset(sim_page(s, 4500), 0x77, GUEST_PAGE_SIZE);
}

static void a_page_goes_and_another_comes(void **state)
{
	(void)state;
	from.run = page_that_moves;
	for (unsigned turn = 2; turn < 16; turn += 3) {
		*(unsigned *)sim_page(&from, STORE) = turn;
		move_it();
		teardown(state);
		setup(state);
		from.run = page_that_moves;
	}
}

static void memory_that_comes(struct simguest *s)
{
	if (++turns != 9)
		return;
	for (uint64_t gfn = 4200; gfn < 4300; gfn++) {
		s->types[gfn] = XF_PAGE_NOTAB;
		memset(sim_page(s, gfn), 0x78, GUEST_PAGE_SIZE);
	}
}

static void memory_comes(void **state)
{
	(void)state;
	from.run = memory_that_comes;
	move_it();
	/* Only what came is sent, not all of it again as with log-dirty. */
	assert_true(megabytes() < 4.1);
}

static void memory_above_all(void **state)
{
	(void)state;
	from.info.frames = 5001;
	save.grow_to = FRAMES;
	sim_fill(&from, 5500, 5600);
	from.run = sim_work;
	move_it();
}

/* However short the pause is to be, comparing takes longer: it ends all the same. */
static void pause_as_short_as_can_be(void **state)
{
	(void)state;
	from.run = sim_work;
	save.limits.max_pause_ms = 1;
	save.limits.max_rounds = 0;
	move_it();
}

static void verified(void **state)
{
	(void)state;
	from.run = sim_work;
	save.verify = true;
	move_it();
	assert_int_equal(restore.result.mismatches, 0);
	assert_true(megabytes() > 7.6);		/* twice all of it */
}

/* ---- the throttle ------------------------------------------------------- */

static void calms_down(struct simguest *s)
{
	for (uint64_t gfn = 0; s->cap > 20 && gfn < 700; gfn++)
		sim_write(s, gfn, gfn * 7 + s->calls);
}

static void throttled(void **state)
{
	(void)state;
	from.run = calms_down;
	/* Slow enough that the dirty pages are what makes the pause long. */
	save.max_bandwidth = 10000000;
	save.limits.max_pause_ms = 1;
	save.limits.when_stuck = POLICY_THROTTLE;
	move_it();
	assert_true(from.n_caps >= 3);
	assert_int_equal(from.caps[from.n_caps - 1], 100);
}

static int many = 1;

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(idle_guest),
		TEST(working_guest),
		TEST(working_guest_without_its_zeroes),
		TEST(busy_guest),
		TEST(one_thread_and_many),
		cmocka_unit_test_prestate_setup_teardown(one_thread_and_many, setup, teardown, &many),
		TEST(forced_where_there_is_log_dirty),
		TEST(log_dirty_where_there_is_one),
		TEST(log_dirty_forced_where_there_is_none),
		TEST(other_errors_are_not_taken_for_it),
		TEST(somebody_has_it),
		TEST(changed_and_back_while_it_is_sent),
		TEST(zeroes_that_are_written_to),
		TEST(each_op_may_fail),
		TEST(no_memory_for_the_tracker),
		TEST(no_memory_for_copies),
		TEST(no_memory_for_a_note),
		TEST(no_memory_for_a_note_of_zeroes),
		TEST(a_page_goes),
		TEST(a_page_goes_and_another_comes),
		TEST(memory_comes),
		TEST(memory_above_all),
		TEST(pause_as_short_as_can_be),
		TEST(verified),
		TEST(throttled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
