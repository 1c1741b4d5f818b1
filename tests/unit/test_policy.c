/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stock rule, on both sides of each of its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/policy.h"

static enum policy_answer after(unsigned round, int64_t dirty)
{
	const struct policy_stats stats = { .round = round, .written = 1000, .dirty = dirty };

	return policy_decide(&stats, &policy_stock_limits);
}

static void goes_on_while_much_is_dirty(void **state)
{
	(void)state;
	assert_int_equal(after(0, 50), POLICY_CONTINUE);
	assert_int_equal(after(4, INT64_MAX), POLICY_CONTINUE);
}

static void stops_when_little_is_dirty(void **state)
{
	(void)state;
	assert_int_equal(after(1, 49), POLICY_STOP);
	assert_int_equal(after(0, 0), POLICY_STOP);
}

static void unknown_is_not_little(void **state)
{
	(void)state;
	assert_int_equal(after(1, -1), POLICY_CONTINUE);
}

static void stops_after_five_rounds(void **state)
{
	(void)state;
	assert_int_equal(after(5, INT64_MAX), POLICY_STOP);
	assert_int_equal(after(5, -1), POLICY_STOP);
	assert_int_equal(after(600, 1 << 20), POLICY_STOP);
}

static void other_limits(void **state)
{
	const struct policy_limits limits = { .max_rounds = 2, .few_dirty = 1000 };

	(void)state;
	assert_int_equal(policy_decide(&(struct policy_stats) { 1, 0, 1000 }, &limits), POLICY_CONTINUE);
	assert_int_equal(policy_decide(&(struct policy_stats) { 1, 0, 999 }, &limits), POLICY_STOP);
	assert_int_equal(policy_decide(&(struct policy_stats) { 2, 0, 1000 }, &limits), POLICY_STOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_on_while_much_is_dirty),
		cmocka_unit_test(stops_when_little_is_dirty),
		cmocka_unit_test(unknown_is_not_little),
		cmocka_unit_test(stops_after_five_rounds),
		cmocka_unit_test(other_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
