/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of options: what is taken, and what is said of what isn't. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <getopt.h>
#include <string.h>

#include "cmd_options.h"
#include "runinside.h"

static int flag, other;
static const char *text, *limit, *word;
static unsigned number;

static const char *const words[] = { "one", "two", "three", NULL };
static const struct cmd_option table[] = {
	{ "flag", 'f', .flag = &flag },
	{ "other", 0, .flag = &other },
	{ "text", 't', .text = &text },
	{ "limit", 0, .text = &limit, .most = 100 },
	{ "word", 'w', .text = &word, .words = words },
	{ "number", 'n', .number = &number, .least = 2, .most = UINT32_MAX },
	{ .name = NULL },
};
static struct cmd_usage usage = { "test", "usage: help\n", table, false };

static int parse(int argc, char **argv)
{
	flag = other = 0;
	text = limit = word = NULL;
	number = 0;
	return cmd_options(&usage, argc, argv);
}
#define PARSE(...) RUN_INSIDE(parse, "test", __VA_ARGS__)

static void taken(void **state)
{
	(void)state;
	assert_int_equal(PARSE("argument"), 0);
	assert_int_equal(optind, 1);
	assert_int_equal(flag + other, 0);
	assert_int_equal(PARSE("-f", "--other", "-t", "a b", "--limit=0", "-wtwo", "--number", "4294967295", "x"), 0);
	assert_int_equal(optind, 9);
	assert_int_equal(flag + other, 2);
	assert_string_equal(text, "a b");
	assert_string_equal(limit, "0");
	assert_string_equal(word, "two");
	assert_int_equal(number, UINT32_MAX);
	/* Behind arguments, too, and not behind --. */
	assert_int_equal(PARSE("x", "--flag", "--", "--other"), 0);
	assert_true(flag && !other);
	assert_string_equal(err_text, "");
}

static void of_a_command_behind_it(void **state)
{
	(void)state;
	usage.host_first = true;
	assert_int_equal(PARSE("-f", "host", "--other", "--nonsense"), 0);
	assert_int_equal(optind, 2);
	assert_true(flag && !other);
	assert_string_equal(err_text, "");
	assert_int_equal(PARSE("--text"), 3);
	usage.host_first = false;
}

static void help(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-f", "--help", "--nonsense"), 1);
	assert_string_equal(out_text, "usage: help\n");
	assert_int_equal(PARSE("-h"), 1);
	assert_string_equal(out_text, "usage: help\n");
	assert_string_equal(err_text, "");
}

/* Exit status 2, and a sentence of this. */
static void refused(const char *sentence)
{
	if (strncmp(err_text, "xenferry test: found ", 21) || !strstr(err_text, sentence) ||
	    !strstr(err_text, "; see \"xenferry test --help\".\n"))
		fail_msg("found \"%s\", expected it to say \"%s\"", err_text, sentence);
}
#define REFUSED(sentence, ...) do { assert_int_equal(PARSE(__VA_ARGS__), 3); refused(sentence); } while (0)

static void mistakes(void **state)
{
	static const char *const numbers[] = { "1", "", "-2", "+2", " 2", "2x", "0x10", "4294967296", "99999999999999999999" };

	(void)state;
	REFUSED("found \"--nonsense\", expected one of the options it has", "--nonsense");
	REFUSED("found option \"-x\"", "-x");
	REFUSED("found \"--text\" without a value", "--text");
	REFUSED("found \"-t\" without a value", "-t");
	REFUSED("found \"four\" for --word, expected one, two or three", "--word", "four");
	REFUSED("found \"101\" for --limit, expected a whole number from 0 to 100", "--limit", "101");
	assert_null(limit);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		REFUSED("for --number, expected a whole number from 2 to 4294967295", "-n", numbers[i]);
		assert_int_equal(number, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(of_a_command_behind_it),
		cmocka_unit_test(help),
		cmocka_unit_test(mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
