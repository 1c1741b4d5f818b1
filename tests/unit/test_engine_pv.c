/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A PV guest goes through a stream and arrives as it was, on a machine where its frames lie elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "enginejob.h"
#include "pvstream.h"

typedef void life(struct simpv *);

static const struct simpv_shape usual = { .pages = 2200, .hole_from = 1800, .hole_to = 1900, .vcpus = 2 };

static const struct simpv_shape small = { .pages = 700, .hole_from = 600, .hole_to = 620, .vcpus = 2 };

/* The guest itself: whatever it does, Xen's rules hold, and nothing is used by nobody. */
static void guest_is_sound(void **state)
{
	life *const lives[] = { simpv_work, simpv_churn, simpv_remap, simpv_balloon, simpv_grow };
	struct simpv_shape shape = usual;
	struct simpv s;

	(void)state;
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		shape.tree = i % 2;
		shape.max_pfn = i < 2 ? 0 : 4000;
		shape.vcpus = 1 + i % SIMPV_VCPUS;
		simpv_boot(&s, &shape);
		for (s.runs = 0; s.runs < 2000; s.runs++)
			lives[i](&s);
		simpv_suspend(&s);
		for (uint64_t pfn = 0; pfn < s.pfns; pfn++)
			if (s.mfn[pfn] != SIMPV_NONE)
				assert_int_equal(s.m2p[s.mfn[pfn]], pfn);
		assert_true(i != 2 || s.remaps > 1000);
		assert_true(i != 3 || (s.balloon_in > 300 && s.balloon_out > 300));
		assert_true(i != 4 || s.extended > 1);
		simpv_free(&s);
	}
}

/* ---- there and back ----------------------------------------------------- */

struct trip {
	struct simpv from, to;
	struct job save, restore;
	struct xf_transport_mem t;
};

static void trip_begin(struct trip *x, const struct simpv_shape *shape, life *run)
{
	simpv_boot(&x->from, shape);
	x->from.run = run;
	simpv_init(&x->to, x->from.pfns, shape->pages + 1024, shape->vcpus, true);
	job_init_pv(&x->save, &x->from);
	job_init_pv(&x->restore, &x->to);
	assert_int_equal(xf_transport_mem_init(&x->t, NULL, 0), 0);
}

static void trip_go(struct trip *x)
{
	if (job_save(&x->save, &x->t.base))
		fail_msg("%s", x->save.err.text);
	job_expect_quiet(&x->save);
	assert_int_equal(x->save.suspends, 1);
	if (job_restore(&x->restore, &x->t.base))
		fail_msg("%s", x->restore.err.text);
	job_expect_quiet(&x->restore);
	assert_int_equal(x->t.at, x->t.size);
	assert_int_equal(x->restore.static_done, 1);
	assert_int_equal(x->restore.populated_then, 0);
	simpv_expect_same(&x->from, &x->to);
	assert_int_equal(x->restore.result.store_gfn, x->to.seeded.store_gfn);
	assert_int_equal(x->restore.result.console_gfn, x->to.seeded.console_gfn);
}

static void trip_end(struct trip *x)
{
	xf_transport_mem_free(&x->t);
	simpv_free(&x->from);
	simpv_free(&x->to);
}

static void suspended(void **state)
{
	struct trip x;

	(void)state;
	for (unsigned vcpus = 1; vcpus <= SIMPV_VCPUS; vcpus++)
		for (int tree = 0; tree < 2; tree++) {
			struct simpv_shape shape = usual;

			shape.vcpus = vcpus;
			shape.tree = tree;
			trip_begin(&x, &shape, simpv_work);
			x.save.live = false;
			trip_go(&x);
			assert_int_equal(x.from.starts, 0);
			trip_end(&x);
		}
}

static void live_as(const struct simpv_shape *shape, life *run, enum tracker tracker)
{
	struct trip x;

	trip_begin(&x, shape, run);
	x.save.tracker = tracker;
	x.from.no_log_dirty = tracker == TRACKER_AUTO;
	trip_go(&x);
	assert_int_equal(x.from.starts, 1);
	assert_true(tracker != TRACKER_LOG_DIRTY || x.from.last_collected);
	assert_true(run != simpv_churn || x.from.churns > 20);
	assert_true(run != simpv_remap || x.from.remaps > 20);
	assert_true(run != simpv_balloon || x.from.balloon_out > 20);
	trip_end(&x);
}

/* Log-dirty by the test's own hypervisor; by content; and by content because the hypervisor has nothing else. */
static void live(life *run)
{
	struct simpv_shape shape = usual;

	live_as(&shape, run, TRACKER_LOG_DIRTY);
	live_as(&shape, run, TRACKER_CONTENT);
	shape.tree = true;
	live_as(&shape, run, TRACKER_AUTO);
}

static void idle_live(void **state)
{
	(void)state;
	live(NULL);
}

static void working_live(void **state)
{
	(void)state;
	live(simpv_work);
}

static void tables_come_and_go(void **state)
{
	(void)state;
	live(simpv_churn);
}

static void pages_get_other_frames(void **state)
{
	(void)state;
	live(simpv_remap);
}

static void balloons_meanwhile(void **state)
{
	(void)state;
	live(simpv_balloon);
}

/* ---- the P2M ------------------------------------------------------------ */

/* It has room for far more than the guest has: what is sent follows what is used. */
static void much_room(void **state)
{
	struct simpv_shape shape = usual;
	struct trip x;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		shape.max_pfn = UINT64_C(1) << 20;
		shape.tree = tree;
		trip_begin(&x, &shape, simpv_work);
		trip_go(&x);
		/* Not 2048 pages of P2M, and no million of holes. */
		assert_true(x.t.size < 4 * shape.pages * GUEST_PAGE_SIZE);
		trip_end(&x);
	}
}

static void grows_once(struct simpv *s)
{
	simpv_work(s);
	if (!s->extended)
		simpv_extend(s);
}

/* Before the first page, between rounds, at the very end: the second list says where it lies then. */
static void grows_meanwhile(void **state)
{
	static const unsigned when[] = { 3, 12, 20, 30, 60 };
	struct simpv_shape shape = usual;
	unsigned grown = 0, told = 0;

	(void)state;
	shape.max_pfn = 4000;
	for (size_t i = 0; i < 2 * sizeof(when) / sizeof(when[0]); i++) {
		struct trip x;

		shape.tree = i % 2;
		trip_begin(&x, &shape, grows_once);
		x.from.calm = when[i / 2];
		trip_go(&x);
		grown += x.from.extended;
		told += pvstream_count(&x.t, XF_REC_X86_PV_P2M_FRAMES);
		trip_end(&x);
	}
	assert_true(grown > 4);
	assert_true(told > grown);
}

/* In the middle of a change for longer than anybody waits. */
static void never_rests(void **state)
{
	struct trip x;

	(void)state;
	trip_begin(&x, &usual, NULL);
	simpv_shared(&x.from)->arch.p2m_generation = 7;
	assert_int_equal(job_save(&x.save, &x.t.base), -EAGAIN);
	job_expect_error(&x.save, "P2M of domain 7", "generation 7", NULL);
	job_expect_quiet(&x.save);
	assert_int_equal(x.save.suspends, 0);
	trip_end(&x);
}

static void always_another(struct simpv *s)
{
	simpv_shared(s)->arch.p2m_generation += 2;
}

/* What was found wrong in between is not what is said in the end: it may have been a change half done. */
static void changes_and_cant_be_found(void **state)
{
	struct trip x;

	(void)state;
	trip_begin(&x, &usual, always_another);
	simpv_shared(&x.from)->arch.p2m_vaddr += UINT64_C(1) << 39;
	assert_int_equal(job_save(&x.save, &x.t.base), -EAGAIN);
	job_expect_error(&x.save, "changed each of the", "domain 7", NULL);
	job_expect_quiet(&x.save);
	trip_end(&x);
}

/* ---- guests that can't be had ------------------------------------------- */

static int save_after(void (*spoil)(struct simpv *), const char *says)
{
	struct trip x;
	int rc;

	trip_begin(&x, &usual, NULL);
	spoil(&x.from);
	rc = job_save(&x.save, &x.t.base);
	assert_true(rc < 0);
	job_expect_error(&x.save, says, "omain 7", NULL);
	job_expect_quiet(&x.save);
	x.from.width = 8;
	trip_end(&x);
	return rc;
}

static void is_32_bits(struct simpv *s)
{
	s->width = 4;
}

static void has_no_p2m_yet(struct simpv *s)
{
	simpv_shared(s)->arch.max_pfn = 0;
}

static void has_no_place(struct simpv *s)
{
	simpv_shared(s)->arch.p2m_cr3 = 0;
	simpv_shared(s)->arch.pfn_to_mfn_frame_list_list = 0;
}

static void says_too_much(struct simpv *s)
{
	simpv_shared(s)->arch.max_pfn = UINT64_C(1) << 40;
}

static void tree_elsewhere(struct simpv *s)
{
	simpv_shared(s)->arch.p2m_cr3 = 0;
	simpv_shared(s)->arch.pfn_to_mfn_frame_list_list = s->mfns + 5;
}

static void address_without_pages(struct simpv *s)
{
	simpv_shared(s)->arch.p2m_vaddr += UINT64_C(1) << 39;
}

static void root_is_anothers(struct simpv *s)
{
	simpv_shared(s)->arch.p2m_cr3 = 10 << 12;
}

static void list_is_anothers(struct simpv *s)
{
	uint64_t *l1 = (uint64_t *)simpv_page(s, s->p2m_l1_first);

	l1[2] = (l1[2] & SIMPV_FLAGS) | 10 << 12;
}

static void guests_refused(void **state)
{
	(void)state;
	assert_int_equal(save_after(is_32_bits, "32 bits"), -EOPNOTSUPP);
	save_after(has_no_p2m_yet, "0 entries");
	save_after(has_no_place, "no place");
	save_after(says_too_much, "1099511627776 entries");
	save_after(tree_elsewhere, "P2M tree");
	save_after(address_without_pages, "can't be found");
	save_after(root_is_anothers, "can't be found");
}

static void foreign_list_is_refused(void **state)
{
	struct trip x;
	uint64_t *l1, was;

	(void)state;
	trip_begin(&x, &usual, NULL);
	l1 = (uint64_t *)simpv_page(&x.from, x.from.p2m_l1_first);
	was = l1[2];
	list_is_anothers(&x.from);
	assert_true(job_save(&x.save, &x.t.base) < 0);
	job_expect_error(&x.save, "P2M", "domain 7", NULL);
	job_expect_quiet(&x.save);
	l1[2] = was;
	trip_end(&x);
}

/* Two of its frames by turns, for as long as one likes: no tail of a single one that could be cut off. */
static void endless_list_is_refused(void **state)
{
	struct simpv_shape shape = usual;
	uint64_t *l1, was[512];
	struct trip x;

	(void)state;
	shape.max_pfn = UINT64_C(1) << 21;
	trip_begin(&x, &shape, NULL);
	l1 = (uint64_t *)simpv_page(&x.from, x.from.p2m_l1_missing);
	memcpy(was, l1, sizeof(was));
	for (unsigned i = 1; i < 512; i += 2)
		l1[i] = *(uint64_t *)simpv_page(&x.from, x.from.p2m_l1_first);
	assert_int_equal(job_save(&x.save, &x.t.base), -ERANGE);
	job_expect_error(&x.save, "2097152 entries in use", "domain 7", NULL);
	job_expect_quiet(&x.save);
	memcpy(l1, was, sizeof(was));
	trip_end(&x);
}

/* A table that leads out of the guest while it runs is left for later; when it is suspended it is an error. */
static void table_stays_bad(void **state)
{
	struct trip x;
	uint64_t *l1, was;

	(void)state;
	trip_begin(&x, &usual, NULL);
	l1 = (uint64_t *)simpv_page(&x.from, x.from.fix_l1);
	was = l1[9];
	l1[9] = UINT64_C(10) << 12 | SIMPV_PRESENT;
	assert_true(job_save(&x.save, &x.t.base) < 0);
	job_expect_error(&x.save, "domain 7", NULL);
	job_expect_quiet(&x.save);
	assert_int_equal(x.save.suspends, 1);
	l1[9] = was;
	trip_end(&x);
}

static void vcpu_is_offline(void **state)
{
	struct simpv_shape shape = usual;
	struct trip x;

	(void)state;
	shape.vcpus = 3;
	trip_begin(&x, &shape, simpv_work);
	x.from.vcpu[1].online = false;
	trip_go(&x);
	assert_int_equal(pvstream_count(&x.t, XF_REC_X86_PV_VCPU_BASIC), 2);
	trip_end(&x);
}

static void suspend_fails(void **state)
{
	struct trip x;

	(void)state;
	trip_begin(&x, &usual, simpv_churn);
	x.save.refuse_suspend = true;
	assert_int_equal(job_save(&x.save, &x.t.base), -EIO);
	job_expect_error(&x.save, "Suspending domain 7 failed", NULL);
	job_expect_quiet(&x.save);
	trip_end(&x);
}

/* ---- each op fails ------------------------------------------------------ */

static bool may_fail_quietly(const char *op)
{
	return !strcmp(op, "simpv_dirty_stop");
}

static bool save_with_fault(unsigned at, bool is_live, enum tracker tracker)
{
	struct trip x;
	bool reached;
	int rc;

	trip_begin(&x, &small, is_live ? simpv_churn : NULL);
	x.save.live = is_live;
	x.save.tracker = tracker;
	x.save.threads = 1;
	x.from.fail_at = at;
	rc = job_save(&x.save, &x.t.base);
	reached = x.from.failed != NULL;
	if (!reached || may_fail_quietly(x.from.failed)) {
		assert_int_equal(rc, 0);
	} else {
		if (rc != -EIO)
			fail_msg("%s failed, and the save gave %d", x.from.failed, rc);
		job_expect_error(&x.save, "domain 7", strerror(EIO), NULL);
	}
	job_expect_quiet(&x.save);
	trip_end(&x);
	return reached;
}

static void save_survives_each_fault(void **state)
{
	unsigned at;

	(void)state;
	for (at = 1; save_with_fault(at, false, TRACKER_AUTO); at++)
		;
	assert_true(at > 25);
	for (at = 1; save_with_fault(at, true, TRACKER_LOG_DIRTY); at++)
		;
	assert_true(at > 30);
	for (at = 1; save_with_fault(at, true, TRACKER_CONTENT); at += 3)
		;
	assert_true(at > 30);
}

static bool restore_with_fault(const struct xf_transport_mem *good, unsigned at)
{
	struct xf_transport_mem t;
	struct simpv to;
	struct job j;
	bool reached;
	int rc;

	simpv_init(&to, small.pages + 2048, small.pages + 1024, small.vcpus, true);
	to.fail_at = at;
	job_init_pv(&j, &to);
	assert_int_equal(xf_transport_mem_init(&t, good->data, good->size), 0);
	rc = job_restore(&j, &t.base);
	reached = to.failed != NULL;
	if (rc != (reached ? -EIO : 0))
		fail_msg("%s failed, and the restore gave %d (%s)", to.failed, rc, j.err.text);
	if (rc)
		job_expect_error(&j, "domain 7", strerror(EIO), NULL);
	job_expect_quiet(&j);
	xf_transport_mem_free(&t);
	simpv_free(&to);
	return reached;
}

static void restore_survives_each_fault(void **state)
{
	struct trip x;
	unsigned at;

	(void)state;
	trip_begin(&x, &small, simpv_churn);
	assert_int_equal(job_save(&x.save, &x.t.base), 0);
	for (at = 1; restore_with_fault(&x.t, at); at++)
		;
	assert_true(at > 20);
	trip_end(&x);
}

static void log_dirty_is_asked_for_in_vain(void **state)
{
	struct trip x;

	(void)state;
	trip_begin(&x, &small, NULL);
	x.from.no_log_dirty = true;
	x.save.tracker = TRACKER_LOG_DIRTY;
	assert_int_equal(job_save(&x.save, &x.t.base), -EOPNOTSUPP);
	job_expect_error(&x.save, "domain 7", NULL);
	job_expect_quiet(&x.save);
	assert_int_equal(x.save.suspends, 0);
	trip_end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guest_is_sound),
		cmocka_unit_test(suspended),
		cmocka_unit_test(idle_live),
		cmocka_unit_test(working_live),
		cmocka_unit_test(tables_come_and_go),
		cmocka_unit_test(pages_get_other_frames),
		cmocka_unit_test(balloons_meanwhile),
		cmocka_unit_test(much_room),
		cmocka_unit_test(grows_meanwhile),
		cmocka_unit_test(never_rests),
		cmocka_unit_test(changes_and_cant_be_found),
		cmocka_unit_test(guests_refused),
		cmocka_unit_test(foreign_list_is_refused),
		cmocka_unit_test(endless_list_is_refused),
		cmocka_unit_test(table_stays_bad),
		cmocka_unit_test(vcpu_is_offline),
		cmocka_unit_test(suspend_fails),
		cmocka_unit_test(save_survives_each_fault),
		cmocka_unit_test(restore_survives_each_fault),
		cmocka_unit_test(log_dirty_is_asked_for_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
