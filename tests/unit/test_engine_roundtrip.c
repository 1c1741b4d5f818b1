/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A guest goes through a pipe or a file and arrives as it was when it was suspended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enginejob.h"
#include "stream/limits.h"
#include "streamgen.h"
#include "xcbatch.h"

#include <xen/hvm/params.h>

#define FRAMES 6000
#define STORE	5000
#define CONSOLE 5001
#define IOREQ	5002

/* Memory with a hole, a page Xen found broken, and the special pages apart. */
static void make_source(struct simguest *s)
{
	sim_init(s, FRAMES, false);
	sim_fill(s, 0, 700);
	sim_fill(s, 900, 4000);
	sim_fill(s, STORE, IOREQ + 1);
	s->types[10] = XF_PAGE_BROKEN;
	s->params[HVM_PARAM_STORE_PFN] = STORE;
	s->params[HVM_PARAM_CONSOLE_PFN] = CONSOLE;
	s->params[HVM_PARAM_IOREQ_PFN] = IOREQ;
	s->params[HVM_PARAM_IDENT_PT] = 0xfedc;
	s->params[HVM_PARAM_X87_FIP_WIDTH] = 8;
}

struct pipe_end {
	struct job *job;
	int fd;
	int rc;
};

static void *saver(void *data)
{
	struct pipe_end *e = data;
	struct xf_transport_fd out;

	xf_transport_fd_init(&out, e->fd);
	e->rc = job_save(e->job, &out.base);
	close(e->fd);
	return NULL;
}

/* Both ends at once, as in a migration. */
static void through_pipe(struct job *save, struct job *restore)
{
	struct xf_transport_fd in;
	struct pipe_end end = { .job = save };
	pthread_t thread;
	char more;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	end.fd = fds[1];
	assert_int_equal(pthread_create(&thread, NULL, saver, &end), 0);
	xf_transport_fd_init(&in, fds[0]);
	assert_int_equal(job_restore(restore, &in.base), 0);
	pthread_join(thread, NULL);
	assert_int_equal(end.rc, 0);
	assert_int_equal(read(fds[0], &more, 1), 0);	/* nothing left over */
	close(fds[0]);
	job_expect_quiet(save);
	job_expect_quiet(restore);
}

static void goes_through_pipe(bool live, void (*run)(struct simguest *))
{
	struct simguest from, to;
	struct job save, restore;

	make_source(&from);
	from.run = run;
	sim_init(&to, FRAMES, true);
	job_init(&save, &from);
	job_init(&restore, &to);
	save.live = live;
	through_pipe(&save, &restore);
	expect_same_guest(&from, &restore);
	assert_int_equal(save.suspends, 1);
	assert_int_equal(save.qemu_switched, 2);
	assert_int_equal(from.starts, live ? 1 : 0);
	assert_int_equal(from.stops, from.starts);
	assert_int_equal(from.stops_later, from.stops);
	assert_int_equal(restore.static_done, 1);
	assert_int_equal(restore.missing, 0);
	assert_int_equal(restore.populated_then, 0);
	if (live)
		assert_true(from.last_collected);
	sim_free(&from);
	sim_free(&to);
}

static void idle_live(void **state)
{
	(void)state;
	goes_through_pipe(true, NULL);
}

static void working_live(void **state)
{
	(void)state;
	goes_through_pipe(true, sim_work);
}

static void suspended(void **state)
{
	(void)state;
	goes_through_pipe(false, sim_work);
}

static void without_device_model(void **state)
{
	struct simguest from, to;
	struct job save, restore;

	(void)state;
	make_source(&from);
	sim_init(&to, FRAMES, true);
	job_init(&save, &from);
	job_init(&restore, &to);
	save.save_hooks.qemu_logdirty = NULL;
	through_pipe(&save, &restore);
	expect_same_guest(&from, &restore);
	sim_free(&from);
	sim_free(&to);
}

/* A page the guest gives back while it is looked at, and takes again. */
static void page_comes_back(void **state)
{
	struct simguest from, to;
	struct job save, restore;

	(void)state;
	make_source(&from);
	sim_init(&to, FRAMES, true);
	from.unmappable = 1234;
	from.unmappable_times = 1;
	job_init(&save, &from);
	job_init(&restore, &to);
	through_pipe(&save, &restore);
	assert_int_equal(from.unmappable_times, 0);
	expect_same_guest(&from, &restore);
	sim_free(&from);
	sim_free(&to);
}

static uint64_t balloon_at;

static void balloon(struct simguest *s)
{
	sim_work(s);
	s->types[balloon_at] = XF_PAGE_XTAB;
}

/* A page that is gone for good stays where it was at the receiver; nothing else is lost. */
static void page_goes_away(void **state)
{
	struct simguest from, to;
	struct job save, restore;

	(void)state;
	make_source(&from);
	sim_init(&to, FRAMES, true);
	balloon_at = 3999;
	from.run = balloon;
	job_init(&save, &from);
	job_init(&restore, &to);
	through_pipe(&save, &restore);
	to.types[balloon_at] = XF_PAGE_XTAB;
	expect_same_guest(&from, &restore);
	sim_free(&from);
	sim_free(&to);
}

/* From its third look on the guest has memory above what was its highest frame. */
static void plug_in(struct simguest *s)
{
	sim_work(s);
	if (++balloon_at == 3) {
		s->info.frames = FRAMES;
		sim_fill(s, FRAMES - 70, FRAMES);
	}
}

static void goes_grown(bool live)
{
	struct simguest from, to;
	struct job save, restore;

	make_source(&from);
	sim_init(&to, FRAMES, true);
	from.info.frames = FRAMES - 100;
	job_init(&save, &from);
	job_init(&restore, &to);
	save.live = live;
	if (live) {
		balloon_at = 0;
		from.run = plug_in;
	} else {
		sim_fill(&from, FRAMES - 70, FRAMES);
		save.grow_to = FRAMES;
	}
	through_pipe(&save, &restore);
	expect_same_guest(&from, &restore);
	sim_free(&from);
	sim_free(&to);
}

static void guest_grows(void **state)
{
	(void)state;
	goes_grown(true);
	goes_grown(false);
}

/* ---- verify ------------------------------------------------------------- */

/* Each copy of a page that is in one record arrives with one bit wrong. */
static void alter_in_record(uint8_t *record, uint64_t pfn)
{
	struct xf_page_data d;
	uint8_t *data;

	memcpy(&d, record, sizeof(d));
	data = record + sizeof(d) + d.count * sizeof(uint64_t);
	for (uint32_t i = 0; i < d.count; i++) {
		uint64_t word;

		memcpy(&word, record + sizeof(d) + i * sizeof(word), sizeof(word));
		if (!xf_page_type_has_data(xf_word_type(word)))
			continue;
		if (xf_word_pfn(word) == pfn)
			data[4095] ^= 1;
		data += XF_PAGE_SIZE;
	}
}

/* The verify pass has what is right. */
static void alter_before_verify(struct xf_transport_mem *t, uint64_t pfn)
{
	size_t at = sizeof(struct xf_image_header) + sizeof(struct xf_domain_header);
	struct xf_record_header h;

	do {
		assert_true(at < t->size);
		memcpy(&h, t->data + at, sizeof(h));
		at += sizeof(h);
		if (h.type == XF_REC_PAGE_DATA)
			alter_in_record(t->data + at, pfn);
		at += h.length + xf_record_padding(h.length);
	} while (h.type != XF_REC_VERIFY);
}

static void verified(const uint64_t *alter, size_t n)
{
	struct xf_transport_mem t;
	struct simguest from, to;
	struct job save, restore;
	char sentence[64];

	make_source(&from);
	from.run = sim_work;
	sim_init(&to, FRAMES, true);
	job_init(&save, &from);
	job_init(&restore, &to);
	save.verify = true;
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	assert_int_equal(job_save(&save, &t.base), 0);
	for (size_t i = 0; i < n; i++)
		alter_before_verify(&t, alter[i]);
	assert_int_equal(job_restore(&restore, &t.base), 0);
	assert_int_equal(restore.result.mismatches, n);
	assert_int_equal(job_said_times(&restore, "verify pfn"), n);
	for (size_t i = 0; i < n; i++) {
		snprintf(sentence, sizeof(sentence), "verify pfn 0x%llx failed", (unsigned long long)alter[i]);
		assert_true(job_said(&restore, sentence));
	}
	assert_int_equal(job_said(&restore, "and put them right"), n > 0);
	expect_same_guest(&from, &restore);
	xf_transport_mem_free(&t);
	sim_free(&from);
	sim_free(&to);
}

static void verify_clean(void **state)
{
	(void)state;
	verified(NULL, 0);
}

static void verify_puts_pages_right(void **state)
{
	static const uint64_t one[] = { 0x3e7 }, some[] = { 0, 63, 64, 1024, 3999 };

	(void)state;
	verified(one, 1);
	verified(some, 5);
}

/* ---- other people's streams --------------------------------------------- */

static void expect_generated(const struct simguest *s, uint64_t pages)
{
	uint8_t want[XF_PAGE_SIZE];

	for (uint64_t pfn = 0; pfn < pages; pfn++) {
		gen_fill(want, pfn);
		assert_memory_equal(sim_page(s, pfn), want, sizeof(want));
	}
}

/* The generator's parameters name these as store and the like. */
#define GEN_SPECIAL 0xfeff8
#define GEN_SPECIALS 3
#define GEN_FRAMES (1 << 20)

static void put_pages(struct gen *g, uint64_t pages)
{
	static uint64_t words[XF_RECORD_PAGES_MAX];

	for (uint64_t i = 0; i < GEN_SPECIALS; i++)
		words[i] = xf_page_word(GEN_SPECIAL + i, XF_PAGE_NOTAB);
	gen_pages(g, words, GEN_SPECIALS);

	for (uint64_t i = 0; i < pages; i++)
		words[i] = xf_page_word(i, XF_PAGE_NOTAB);
	gen_pages(g, words, pages);
}

static void restore_generated(struct gen *g, uint32_t version, uint64_t pages, struct job *j)
{
	struct xf_transport_mem t;
	int rc;

	gen_hvm_before_pages(g, version);
	put_pages(g, pages);
	gen_hvm_after_pages(g);
	assert_int_equal(xf_transport_mem_init(&t, g->data, g->size), 0);
	t.step = 50000;		/* as a socket would give it */
	rc = job_restore(j, &t.base);
	if (rc)
		fail_msg("%s", j->err.text);
	assert_int_equal(t.at, t.size);
	xf_transport_mem_free(&t);
	gen_free(g);
}

static void long_record(void **state)
{
	struct gen g = { 0 };
	struct simguest to;
	struct job j;

	(void)state;
	sim_init(&to, GEN_FRAMES, true);
	job_init(&j, &to);
	restore_generated(&g, 3, 5000, &j);
	expect_generated(&to, 5000);
	sim_free(&to);
}

/* Version 2 has no static data: it is complete before the first page. */
static void version_2(void **state)
{
	struct gen g = { 0 };
	struct simguest to;
	struct job j;

	(void)state;
	sim_init(&to, GEN_FRAMES, true);
	job_init(&j, &to);
	restore_generated(&g, 2, 40, &j);
	expect_generated(&to, 40);
	assert_int_equal(j.static_done, 1);
	assert_int_equal(j.missing, RESTORE_MISSING_CPUID | RESTORE_MISSING_MSR);
	assert_int_equal(j.populated_then, 0);
	sim_free(&to);
}

static void same_page_twice_in_a_record(void **state)
{
	const uint64_t words[] = {
		xf_page_word(5, XF_PAGE_NOTAB), xf_page_word(6, XF_PAGE_XALLOC),
		xf_page_word(5, XF_PAGE_NOTAB), xf_page_word(7, XF_PAGE_XTAB),
	};
	struct xf_transport_mem t;
	struct gen g = { 0 };
	struct simguest to;
	struct job j;

	(void)state;
	sim_init(&to, GEN_FRAMES, true);
	job_init(&j, &to);
	gen_hvm_before_pages(&g, 3);
	put_pages(&g, 4);
	gen_pages(&g, words, 4);
	gen_hvm_after_pages(&g);
	assert_int_equal(xf_transport_mem_init(&t, g.data, g.size), 0);
	assert_int_equal(job_restore(&j, &t.base), 0);
	assert_int_equal(to.populated, 6 + GEN_SPECIALS);
	assert_int_equal(to.types[7], XF_PAGE_XTAB);
	xf_transport_mem_free(&t);
	gen_free(&g);
	sim_free(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_live),
		cmocka_unit_test(working_live),
		cmocka_unit_test(suspended),
		cmocka_unit_test(without_device_model),
		cmocka_unit_test(page_comes_back),
		cmocka_unit_test(page_goes_away),
		cmocka_unit_test(guest_grows),
		cmocka_unit_test(verify_clean),
		cmocka_unit_test(verify_puts_pages_right),
		cmocka_unit_test(long_record),
		cmocka_unit_test(version_2),
		cmocka_unit_test(same_page_twice_in_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
