/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A PV guest goes through a stream and arrives as it was, on a machine where its frames lie elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "enginejob.h"

static const struct simpv_shape usual = { .pages = 2200, .hole_from = 1800, .hole_to = 1900, .vcpus = 2 };

/* The guest itself: whatever it does, Xen's rules hold, and nothing is used by nobody. */
static void guest_is_sound(void **state)
{
	void (*const lives[])(struct simpv *) = { simpv_work, simpv_churn, simpv_remap, simpv_balloon, simpv_grow };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guest_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
