/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whatever fails, a sentence says so and nothing is left switched on or
 * allocated. (Memory is ASan's part.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enginejob.h"
#include "streamgen.h"
#include "xcbatch.h"

#include <xen/hvm/params.h>

#define FRAMES 1300
#define STORE  1250

static void make_source(struct simguest *s)
{
	sim_init(s, FRAMES, false);
	sim_fill(s, 0, 1100);
	sim_fill(s, STORE, STORE + 1);
	s->params[HVM_PARAM_STORE_PFN] = STORE;
	s->run = sim_work;
}

/* A whole good stream. */
static void record_stream(struct xf_transport_mem *t, bool verify, bool working)
{
	struct simguest from;
	struct job save;

	make_source(&from);
	if (!working)
		from.run = NULL;
	job_init(&save, &from);
	save.verify = verify;
	assert_int_equal(xf_transport_mem_init(t, NULL, 0), 0);
	assert_int_equal(job_save(&save, &t->base), 0);
	sim_free(&from);
}

/* ---- each op of the guest ----------------------------------------------- */

/* Returns whether the op to fail was ever reached. */
static bool save_with_fault(unsigned at, bool live, bool verify, int with)
{
	struct xf_transport_mem t;
	struct simguest from;
	struct job j;
	bool reached;
	int rc;

	make_source(&from);
	from.fail_at = at;
	from.fail_with = with;
	job_init(&j, &from);
	j.live = live;
	j.verify = verify;
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	rc = job_save(&j, &t.base);
	reached = from.failed != NULL;
	if (!reached) {
		assert_int_equal(rc, 0);
	} else if (!strcmp(from.failed, "sim_dirty_stop_later")) {
		/* Then we do it ourselves. */
		assert_int_equal(rc, 0);
		assert_int_equal(from.stops, 1);
		assert_int_equal(from.stops_later, 0);
	} else {
		assert_int_equal(rc, with);
		assert_int_equal(j.err.code, with);
		job_expect_error(&j, "domain 7", strerror(-with), NULL);
	}
	job_expect_quiet(&j);
	assert_int_equal(from.starts, from.stops);
	xf_transport_mem_free(&t);
	sim_free(&from);
	return reached;
}

static void save_survives_each_fault(void **state)
{
	unsigned at;

	(void)state;
	for (at = 1; save_with_fault(at, true, true, -EIO); at++)
		;
	assert_true(at > 30);
	for (at = 1; save_with_fault(at, false, false, -ESRCH); at++)
		;
	assert_true(at > 18);
}

/* What can't be switched off is told: after a failure, and where it can't be left to others. */
static void log_dirty_stays_on(void **state)
{
	struct xf_transport_mem t;
	struct guest_ops ops;
	struct simguest from;
	struct job j;

	(void)state;
	for (int across = 0; across < 2; across++) {
		make_source(&from);
		ops = *from.base.ops;
		ops.dirty_stop_later = NULL;
		from.base.ops = &ops;
		from.stop_fails = -EIO;
		job_init(&j, &from);
		j.refuse_suspend = !across;
		assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
		assert_int_equal(job_save(&j, &t.base), across ? 0 : -EIO);
		assert_true(job_said(&j, "error: Switching log-dirty off for domain 7 failed"));
		assert_int_equal(from.stops, 1);
		xf_transport_mem_free(&t);
		sim_free(&from);
	}
}

static bool restore_with_fault(const struct xf_transport_mem *good, unsigned at, int with)
{
	struct xf_transport_mem t;
	struct simguest to;
	struct job j;
	bool reached;
	int rc;

	sim_init(&to, FRAMES, true);
	to.fail_at = at;
	to.fail_with = with;
	job_init(&j, &to);
	assert_int_equal(xf_transport_mem_init(&t, good->data, good->size), 0);
	rc = job_restore(&j, &t.base);
	reached = to.failed != NULL;
	/* A piece that can't be had comes a page at a time. */
	if (reached && !strcmp(to.failed, "sim_populate_piece")) {
		assert_int_equal(rc, 0);
		assert_true(to.populated > 0);
	} else {
		assert_int_equal(rc, reached ? with : 0);
	}
	if (rc)
		job_expect_error(&j, "domain 7", strerror(-with), NULL);
	xf_transport_mem_free(&t);
	sim_free(&to);
	return reached;
}

static void restore_survives_each_fault(void **state)
{
	struct xf_transport_mem good;
	unsigned at;

	(void)state;
	record_stream(&good, true, true);
	for (at = 1; restore_with_fault(&good, at, -EIO); at++)
		;
	assert_true(at > 15);
	xf_transport_mem_free(&good);
}

/* ---- the other end ------------------------------------------------------ */

static void receiver_goes_away(void **state)
{
	struct xf_transport_mem good;
	size_t size;

	(void)state;
	record_stream(&good, false, false);
	size = good.size;
	xf_transport_mem_free(&good);
	for (size_t limit = 1; limit < size; limit += size / 20) {
		struct xf_transport_mem t;
		struct simguest from;
		struct job j;

		make_source(&from);
		from.run = NULL;
		job_init(&j, &from);
		assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
		t.write_limit = limit;
		assert_int_equal(job_save(&j, &t.base), -EPIPE);
		job_expect_error(&j, "Writing ", "Broken pipe", NULL);
		job_expect_quiet(&j);
		xf_transport_mem_free(&t);
		sim_free(&from);
	}
}

static void sender_goes_away(void **state)
{
	struct xf_transport_mem good;

	(void)state;
	record_stream(&good, false, true);
	for (size_t size = 0; size < good.size; size += 1 + good.size / 25) {
		struct xf_transport_mem t;
		struct simguest to;
		struct job j;

		sim_init(&to, FRAMES, true);
		job_init(&j, &to);
		assert_int_equal(xf_transport_mem_init(&t, good.data, size), 0);
		assert_int_equal(job_restore(&j, &t.base), -ENODATA);
		job_expect_error(&j, "stream ends", "expected", NULL);
		assert_false(to.is_seeded);
		xf_transport_mem_free(&t);
		sim_free(&to);
	}
	xf_transport_mem_free(&good);
}

/* ---- hooks -------------------------------------------------------------- */

static int save_as(struct job *j)
{
	struct xf_transport_mem t;
	int rc;

	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	rc = job_save(j, &t.base);
	xf_transport_mem_free(&t);
	job_expect_quiet(j);
	return rc;
}

static void suspend_fails(void **state)
{
	struct simguest from;
	struct job j;

	(void)state;
	make_source(&from);
	for (int live = 0; live < 2; live++) {
		job_init(&j, &from);
		j.live = live;
		j.refuse_suspend = true;
		assert_int_equal(save_as(&j), -EIO);
		job_expect_error(&j, "Suspending domain 7 failed", NULL);

		job_init(&j, &from);
		j.live = live;
		j.ignore_suspend = true;
		assert_int_equal(save_as(&j), -EIO);
		job_expect_error(&j, "was to be suspended but runs", NULL);
	}
	sim_free(&from);
}

static void device_model_refuses(void **state)
{
	struct simguest from;
	struct job j;

	(void)state;
	make_source(&from);
	job_init(&j, &from);
	j.qemu_refuses = 1;
	assert_int_equal(save_as(&j), -EIO);
	job_expect_error(&j, "device model", NULL);
	assert_int_equal(j.suspends, 0);

	job_init(&j, &from);
	j.qemu_refuses = 2;
	assert_int_equal(save_as(&j), 0);
	assert_true(job_said(&j, "error: The device model of domain 7 refused to stop"));
	sim_free(&from);
}

static void page_stays_unmappable(void **state)
{
	struct simguest from;
	struct job j;

	(void)state;
	make_source(&from);
	from.unmappable = 0x123;
	from.unmappable_times = 1000;
	job_init(&j, &from);
	assert_int_equal(save_as(&j), -EINVAL);
	job_expect_error(&j, "Mapping pfn 0x123", "domain 7", NULL);
	assert_int_equal(j.suspends, 1);
	sim_free(&from);
}

static void unknown_type(void **state)
{
	struct simguest from;
	struct job j;

	(void)state;
	make_source(&from);
	from.types[0x77] = 0x6;
	job_init(&j, &from);
	assert_int_equal(save_as(&j), -EPROTO);
	job_expect_error(&j, "type 0x6 for pfn 0x77", NULL);
	sim_free(&from);
}

static void pv_and_empty_guests(void **state)
{
	struct simguest from;
	struct job j;

	(void)state;
	make_source(&from);
	from.info.hvm = false;
	job_init(&j, &from);
	assert_int_equal(save_as(&j), -EOPNOTSUPP);
	job_expect_error(&j, "PV guest", NULL);
	from.info.hvm = true;
	from.info.frames = 0;
	job_init(&j, &from);
	assert_int_equal(save_as(&j), -EINVAL);
	job_expect_error(&j, "no memory to save", NULL);
	sim_free(&from);
}

/* ---- the policy --------------------------------------------------------- */

static void policy_is_asked_around_each_round(void **state)
{
	struct simguest from;
	struct job j;

	(void)state;
	make_source(&from);
	job_init(&j, &from);
	job_ask(&j);
	j.answers[4] = POLICY_STOP;	/* 0: before round 0, 1: after, 2, 3: round 1, 4: before round 2 */
	assert_int_equal(save_as(&j), 0);
	assert_int_equal(j.n_asked, 5);
	for (unsigned i = 0; i < j.n_asked; i++)
		assert_int_equal(j.asked[i].round, (i + 1) / 2);
	assert_int_equal(j.asked[0].dirty, FRAMES);
	assert_int_equal(j.asked[0].written, 0);
	assert_int_equal(j.asked[1].dirty, -1);
	assert_int_equal(j.asked[1].written, FRAMES);
	assert_in_range(j.asked[2].dirty, 1, FRAMES - 1);
	assert_int_equal(j.asked[3].dirty, -1);
	assert_int_equal(j.asked[3].written, FRAMES + j.asked[2].dirty);
	assert_int_equal(j.suspends, 1);
	sim_free(&from);
}

static void policy_gives_up(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 4; at++) {
		struct simguest from;
		struct job j;

		make_source(&from);
		job_init(&j, &from);
		job_ask(&j);
		j.answers[at] = POLICY_ABORT;
		assert_int_equal(save_as(&j), -ECANCELED);
		job_expect_error(&j, "Giving up domain 7", "runs on here", NULL);
		assert_int_equal(j.suspends, 0);
		assert_int_equal(j.n_asked, at + 1);
		sim_free(&from);
	}
}

/* ---- restore ------------------------------------------------------------ */

/* A receiver, what happens to it, and what it is given. */
static struct simguest to;
static struct job j;
static struct gen g;

static int begin_receiver(uint64_t frames)
{
	sim_init(&to, frames, true);
	job_init(&j, &to);
	g = (struct gen){ 0 };
	return 0;
}

static int receiver(void **state)
{
	(void)state;
	return begin_receiver(FRAMES);
}

/* Room for the special pages of the generator. */
static int large_receiver(void **state)
{
	(void)state;
	return begin_receiver(1 << 20);
}

static int release(void **state)
{
	(void)state;
	gen_free(&g);
	sim_free(&to);
	return 0;
}

static int restore_as(struct job *job, const struct gen *stream)
{
	struct xf_transport_mem t;
	int rc;

	assert_int_equal(xf_transport_mem_init(&t, stream->data, stream->size), 0);
	rc = job_restore(job, &t.base);
	xf_transport_mem_free(&t);
	return rc;
}

static void no_room(void **state)
{
	struct xf_transport_mem good;

	(void)state;
	record_stream(&good, false, true);
	to.host_pages = 1050;
	to.info.max_pages = 256 * 20;
	assert_int_equal(job_restore(&j, &good.base), -ENOMEM);
	job_expect_error(&j, "has 4 MiB", "up to 20 MiB", "0 MiB free", NULL);
	xf_transport_mem_free(&good);
}

/* The limit follows the domain's memory, not the stream. */
static void pfn_beyond_the_domain(void **state)
{
	const uint64_t beyond = (UINT64_C(1) << 20) + (UINT64_C(1) << 18) + 2 * FRAMES;
	uint64_t word = xf_page_word(beyond, XF_PAGE_NOTAB);
	char sentence[64];

	(void)state;
	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, &word, 1);
	gen_hvm_after_pages(&g);
	assert_int_equal(restore_as(&j, &g), -EPROTO);
	snprintf(sentence, sizeof(sentence), "pfn 0x%llx", (unsigned long long)beyond);
	job_expect_error(&j, sentence, "expected one below", NULL);
	assert_int_equal(to.populated, 0);
}

static void wrong_kind_of_guest(void **state)
{
	struct gen pv = { 0 };

	(void)state;
	gen_pv(&pv, 3);
	job_init(&j, &to);
	assert_int_equal(restore_as(&j, &pv), -EPROTO);
	job_expect_error(&j, "holds a PV guest", "domain 7", NULL);

	to.info.hvm = false;
	job_init(&j, &to);
	assert_int_equal(restore_as(&j, &pv), -EOPNOTSUPP);
	job_expect_error(&j, "is a PV guest", NULL);
	gen_free(&pv);
}

static void checkpoint_in_plain_stream(void **state)
{
	uint64_t word = xf_page_word(1, XF_PAGE_NOTAB);

	(void)state;
	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, &word, 1);
	gen_record(&g, XF_REC_CHECKPOINT, NULL, 0);
	assert_int_equal(restore_as(&j, &g), -EPROTO);
	job_expect_error(&j, "checkpoint in a plain stream", NULL);
}

static void optional_record_is_ignored(void **state)
{
	const uint64_t words[] = {
		xf_page_word(0xfeff8, XF_PAGE_NOTAB), xf_page_word(0xfeff9, XF_PAGE_NOTAB),
	};

	(void)state;
	gen_hvm_before_pages(&g, 3);
	gen_record(&g, XF_RECORD_OPTIONAL | 0x123, "whatever", 8);
	gen_pages(&g, words, 2);
	gen_hvm_after_pages(&g);
	assert_int_equal(restore_as(&j, &g), 0);
	assert_true(job_said(&j, "0x80000123"));
}

/* A second record of a kind replaces the first, which is not leaked. */
static void later_record_wins(void **state)
{
	const uint64_t words[] = {
		xf_page_word(0xfeff8, XF_PAGE_NOTAB), xf_page_word(0xfeff9, XF_PAGE_NOTAB),
	};

	(void)state;
	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, words, 2);
	gen_record(&g, XF_REC_HVM_CONTEXT, "older", 5);
	gen_hvm_after_pages(&g);
	assert_int_equal(restore_as(&j, &g), 0);
	assert_int_equal(to.context.size, 100);
	assert_int_equal(*(uint8_t *)to.context.data, 0xc5);
}

/* No page behind the store: the guest could not work. */
static void store_page_is_missing(void **state)
{
	uint64_t word = xf_page_word(1, XF_PAGE_NOTAB);

	(void)state;
	gen_hvm_before_pages(&g, 3);
	gen_pages(&g, &word, 1);
	gen_hvm_after_pages(&g);
	assert_int_equal(restore_as(&j, &g), -EINVAL);
	job_expect_error(&j, "store page", "0xfeff8", NULL);
}

static void toolstack_refuses_static_data(void **state)
{
	uint64_t word = xf_page_word(1, XF_PAGE_NOTAB);

	(void)state;
	j.refuse_static = -EIO;
	gen_hvm_before_pages(&g, 2);
	gen_pages(&g, &word, 1);
	gen_hvm_after_pages(&g);
	assert_int_equal(restore_as(&j, &g), -EIO);
	job_expect_error(&j, "static data", "CPUID, MSRs", NULL);
	assert_int_equal(to.populated, 0);
}

/*
 * Any byte of a small stream altered, a bit at a time, its pages' contents left
 * out: the restore ends, with a sentence if it fails. What a bit may not do is
 * ASan's to see.
 */
static void altered_anywhere(void **state)
{
	struct xf_transport_mem good;
	struct simguest from;
	struct job save;
	unsigned refused = 0, taken = 0;

	(void)state;
	sim_init(&from, 40, false);
	sim_fill(&from, 0, 3);
	from.params[HVM_PARAM_STORE_PFN] = 2;
	job_init(&save, &from);
	assert_int_equal(xf_transport_mem_init(&good, NULL, 0), 0);
	assert_int_equal(job_save(&save, &good.base), 0);
	for (size_t at = 0; at < good.size; at += at > 400 && at < good.size - 400 ? 101 : 1) {
		struct xf_transport_mem t;
		struct simguest target;
		struct job job;

		sim_init(&target, 40, true);
		job_init(&job, &target);
		assert_int_equal(xf_transport_mem_init(&t, good.data, good.size), 0);
		t.data[at] ^= 1u << at % 8;
		if (job_restore(&job, &t.base)) {
			job_expect_error(&job, NULL);
			refused++;
		} else {
			taken++;
		}
		xf_transport_mem_free(&t);
		sim_free(&target);
	}
	assert_true(refused > 50);	/* headers, lengths, counts, types, pfns */
	assert_true(taken > 100);	/* contents of any kind */
	xf_transport_mem_free(&good);
	sim_free(&from);
}

static void xen_objects_to_the_cpu_policy(void **state)
{
	struct xf_transport_mem good;

	(void)state;
	record_stream(&good, false, true);
	to.fail_at = 2;		/* after info */
	to.fail_with = -EINVAL;
	assert_int_equal(job_restore(&j, &good.base), -EINVAL);
	assert_string_equal(to.failed, "sim_policy_set");
	job_expect_error(&j, "CPU policy", "leaf 7", NULL);
	xf_transport_mem_free(&good);
}

#define RECEIVES(f, begin) cmocka_unit_test_setup_teardown(f, begin, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(save_survives_each_fault),
		cmocka_unit_test(log_dirty_stays_on),
		cmocka_unit_test(restore_survives_each_fault),
		cmocka_unit_test(receiver_goes_away),
		cmocka_unit_test(sender_goes_away),
		cmocka_unit_test(suspend_fails),
		cmocka_unit_test(device_model_refuses),
		cmocka_unit_test(page_stays_unmappable),
		cmocka_unit_test(unknown_type),
		cmocka_unit_test(pv_and_empty_guests),
		cmocka_unit_test(policy_is_asked_around_each_round),
		cmocka_unit_test(policy_gives_up),
		RECEIVES(no_room, receiver),
		RECEIVES(pfn_beyond_the_domain, receiver),
		RECEIVES(wrong_kind_of_guest, receiver),
		RECEIVES(checkpoint_in_plain_stream, receiver),
		RECEIVES(optional_record_is_ignored, large_receiver),
		RECEIVES(later_record_wins, large_receiver),
		RECEIVES(store_page_is_missing, receiver),
		RECEIVES(toolstack_refuses_static_data, receiver),
		cmocka_unit_test(altered_anywhere),
		RECEIVES(xen_objects_to_the_cpu_policy, receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
