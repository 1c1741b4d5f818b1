/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the engine allocates, at most at a time, for guests of two sizes: the
 * larger one may cost no more than a byte for each page more. Counted is all
 * that a save or a restore allocates, the simulated guest's log-dirty bitmap
 * included, which the library's takes the place of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "enginejob.h"
#include "stream/wire.h"

/* Of the address sanitizer; gcc comes without their header. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
					      void (*free_hook)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

#define SMALL 16384u
#define LARGE 65536u

static bool counting;
static size_t now, most;

static void allocated(const volatile void *p, size_t size)
{
	(void)p;
	if (!counting)
		return;
	now += size;
	most = now > most ? now : most;
}

/* What was there before the count began was never counted. */
static void freed(const volatile void *p)
{
	size_t size = counting && p ? __sanitizer_get_allocated_size(p) : 0;

	now -= size < now ? size : now;
}

static void count_from_here(void)
{
	static bool hooked;

	if (!hooked)
		assert_true(__sanitizer_install_malloc_and_free_hooks(allocated, freed) > 0);
	hooked = true;
	now = most = 0;
	counting = true;
}

struct cost {
	size_t save, restore;
};

/* Mostly zeroes, which go without contents: what is asked is how much is allocated, not how much is sent. */
static struct cost cost_of(uint64_t pages)
{
	int stream = memfd_create("stream", MFD_CLOEXEC);
	struct xf_transport_fd out, in;
	struct simguest from, to;
	struct job save, restore;
	struct cost cost;

	assert_true(stream >= 0);
	sim_init(&from, pages, false);
	sim_init(&to, pages, true);
	sim_fill(&from, 0, 2000);
	memset(from.types, XF_PAGE_NOTAB, pages);
	from.run = sim_work;
	job_init(&save, &from);
	job_init(&restore, &to);
	save.elide_zeroes = true;
	xf_transport_fd_init(&out, stream);
	count_from_here();
	assert_int_equal(job_save(&save, &out.base), 0);
	counting = false;
	cost.save = most;
	assert_int_equal(lseek(stream, 0, SEEK_SET), 0);
	xf_transport_fd_init(&in, stream);
	count_from_here();
	assert_int_equal(job_restore(&restore, &in.base), 0);
	counting = false;
	cost.restore = most;
	expect_same_guest(&from, &restore);
	sim_free(&from);
	sim_free(&to);
	close(stream);
	return cost;
}

static void check(const char *side, size_t small, size_t large)
{
	double a_page = (double)(large - small) / (LARGE - SMALL);

	print_message("%s: %zu bytes for %u pages, %zu for %u: %.3f for each more\n", side, small, SMALL, large, LARGE,
		      a_page);
	assert_true(large > small);
	if (a_page > 1)
		fail_msg("a %s takes %.3f bytes for each page of the guest, expected 1 at most", side, a_page);
}

static void a_byte_a_page(void **state)
{
	struct cost small, large;

	(void)state;
	small = cost_of(SMALL);
	large = cost_of(LARGE);
	check("save", small.save, large.save);
	check("restore", small.restore, large.restore);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_byte_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
