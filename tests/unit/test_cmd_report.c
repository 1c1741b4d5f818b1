/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry report: what is drawn of a good file, and that a damaged, cut or hostile one leaves nothing but a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runcmd.h"

#define SAVE(event, t, more)								\
	"{\"event\":\"" event "\",\"side\":\"save\",\"engine\":\"ours\",\"domid\":5,\"pid\":7,\"t\":" t more "}\n"
#define START SAVE("start", "100.0", ",\"pages\":32768,\"live\":true")
#define ROUND0 SAVE("round", "108.0", ",\"round\":0,\"pages\":32768,\"bytes\":134300000,\"seconds\":8.0,\"mib_s\":16.0," \
	"\"dirty\":1200,\"dirty_mib_s\":0.6,\"predicted_pause_ms\":412.5")
#define SUSPENDED SAVE("suspended", "108.5", ",\"suspend_ms\":12.5")
#define ROUND1 SAVE("round", "108.8", ",\"round\":1,\"pages\":1177,\"bytes\":4920000,\"seconds\":0.3,\"dirty\":-1")
#define END SAVE("end", "108.9", ",\"result\":0,\"total_s\":8.9,\"bytes\":139300000,\"rounds\":2,\"stopped_for\":" \
	"\"short-pause\",\"pause\":{\"suspend_ms\":12.5,\"last_copy_ms\":300.0,\"state_ms\":100.0}")
#define THERE "{\"event\":\"end\",\"side\":\"restore\",\"engine\":\"ours\",\"domid\":6,\"pid\":8,\"t\":109.0,\"result\":0}\n"
#define GOOD START ROUND0 SUSPENDED ROUND1 END THERE

static struct ran r;
static char dir[] = "/tmp/reportXXXXXX", in[64], out[64];

static void put_n(const char *text, size_t n)
{
	FILE *f = fopen(in, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static void put(const char *text)
{
	put_n(text, strlen(text));
}

static void assert_refused(const char *why)
{
	RUN(&r, "report", "-o", out, in);
	assert_ran(&r, 1, "", why);
	assert_string_equal(r.out, "");
	assert_int_equal(strncmp(r.err, "xenferry report: ", 17), 0);
	assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
	assert_int_not_equal(access(out, F_OK), 0);
}

static void draws(void **state)
{
	static const char *const texts[] = {
		">Migration of domain 5: 8.9 s<", ">engine ours, 2 rounds, 132.8 MiB sent; suspended for: short-pause<",
		">MiB/s<", ">seconds since the migration began<", ">32768<", ">1177<", ">last copy<", ">pages<", ">ms<",
		/* 12.5 before the engine's part, which is 109.0 - 108.5 */
		">The pause, suspending included: 512.5 ms<", ">last copy 300.0 ms<", ">until both sides ended 100.0 ms<",
		">as predicted 412.5 ms<", ">the guest is suspended<",
	};
	(void)state;

	put(GOOD);
	RUN(&r, "report", in);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	assert_int_equal(strncmp(r.out, "<svg xmlns=", 11), 0);
	assert_string_equal(r.out + strlen(r.out) - 7, "</svg>\n");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_ran(&r, 0, texts[i], "");
	assert_null(strstr(r.out, "nan"));
	assert_null(strstr(r.out, "inf"));
	RUN(&r, "report", "--output", out, in);
	assert_ran(&r, 0, "", "");
	assert_int_equal(access(out, F_OK), 0);
	unlink(out);
}

/* Of several the last; another domain's lines in between don't matter. */
static void draws_the_last(void **state)
{
	(void)state;
	put(GOOD "{\"event\":\"start\",\"side\":\"save\",\"engine\":\"ours\",\"domid\":9,\"pid\":7,\"t\":200.0}\n"
	    SAVE("progress", "200.5", ",\"round\":0,\"sent\":1,\"of\":2")
	    "{\"event\":\"end\",\"side\":\"save\",\"engine\":\"stock\",\"domid\":9,\"pid\":7,\"t\":207.0,\"result\":-5,"
	    "\"total_s\":7.0}\n");
	RUN(&r, "report", in);
	assert_ran(&r, 0, ">Migration of domain 9: 7.0 s, FAILED<", "");
	assert_ran(&r, 0, "the stock engine, which is timed from outside, tells none", "");
	assert_ran(&r, 0, "nothing is known of one", "");
}

static void draws_a_result(void **state)
{
	(void)state;
	put("{\n \"domain\": \"web\", \"domid\": 5, \"engine_pause_ms\": 500.0,\n \"rounds\": [\n"
	    "  { \"round\": 0, \"pages\": 32768, \"bytes\": 134300000, \"seconds\": 8.0, \"t\": 108.0, \"dirty\": 1200,"
	    " \"dirty_mib_s\": 0.6, \"predicted_pause_ms\": 412.5, \"cap\": 100 },\n"
	    "  { \"round\": 1, \"pages\": 1177, \"bytes\": 4920000, \"seconds\": 0.3, \"t\": 108.8, \"dirty\": -1 } ],\n"
	    " \"save\": { \"engine\": \"ours\", \"result\": 0, \"bytes\": 139300000, \"total_s\": 8.9, \"pause\": {"
	    " \"suspend_ms\": 12.5, \"last_copy_ms\": 300.0, \"state_ms\": 100.0 } } }\n");
	RUN(&r, "report", in);
	assert_ran(&r, 0, ">Migration of domain 5: 8.9 s<", "");
	assert_ran(&r, 0, ">1177<", "");
	assert_ran(&r, 0, ">The pause, suspending included: 512.5 ms<", "");
	assert_ran(&r, 0, ">as predicted 412.5 ms<", "");
}

/* Cut at each byte: drawn only where the sending side's end is whole, and then nothing is made up. */
static void cut_anywhere(void **state)
{
	static const char good[] = GOOD;
	size_t whole = sizeof(START ROUND0 SUSPENDED ROUND1 END) - 1;
	(void)state;

	for (size_t n = 0; n < sizeof(good) - 1; n += n % 7 + 9) {
		if (n == whole)
			continue;
		put_n(good, n);
		assert_refused("nothing was drawn");
	}
	put_n(good, whole);
	RUN(&r, "report", in);
	assert_ran(&r, 0, ">The pause, suspending included: 412.5 ms<", "");
	put("");
	assert_refused("Found nothing at all");
	put(START ROUND0);
	assert_refused("no end of the last migration (it was killed, or goes on)");
	put(GOOD START);
	assert_refused("no end of the last migration");
	put(THERE);
	assert_refused("neither statistics lines nor the result");
}

static void hostile(void **state)
{
	static const char *const bad[] = {
		START "rubbish\n" END, START "{}\n" END, START "[1,2]\n" END, START "null\n" END, START "\n" END,
		START SAVE("round", "101.0", ",\"round\":0,\"pages\":-3,\"bytes\":1,\"seconds\":1") END,
		START SAVE("round", "101.0", ",\"round\":0,\"pages\":\"x\",\"bytes\":1,\"seconds\":1") END,
		START SAVE("round", "1e300", ",\"round\":0,\"pages\":1,\"bytes\":1,\"seconds\":1") END,
		START SAVE("round", "101.0", ",\"round\":0,\"pages\":1,\"bytes\":1,\"seconds\":1e300") END,
		START SAVE("round", "101.0", ",\"round\":0,\"pages\":9223372036854775807,\"bytes\":1,\"seconds\":1") END,
		START SAVE("round", "101.0", ",\"round\":0,\"pages\":1,\"bytes\":900000000000,\"seconds\":1e-300") END,
		START SAVE("suspended", "50.0", "") END,
		START SAVE("end", "109.0", ",\"pause\":{\"suspend_ms\":1e99}"),
	};
	static char many[300 * 200 + 4096];
	size_t at;
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(bad[i]);
		assert_refused("nothing was drawn");
	}
	put_n(START "{\"event\":\"end\0\"}\n" END, sizeof(START "{\"event\":\"end\0\"}\n" END) - 1);
	assert_refused("makes no sense, number 2 of 3");
	put("{\"rounds\":3,\"domid\":5}");
	assert_refused("neither statistics lines");
	put("{\"rounds\":[{}],\"domid\":5,\"save\":{}}");
	assert_refused("a round that makes no sense");
	put("{\"rounds\":[],\"domid\":5,\"save\":null}");
	assert_refused("without statistics of its sending side");
	at = (size_t)sprintf(many, "%s", START);
	for (int i = 0; i < 300; i++)
		at += (size_t)sprintf(many + at, SAVE("round", "101.0", ",\"round\":%d,\"pages\":1,\"bytes\":1,\"seconds\":0"), i);
	sprintf(many + at, "%s", END);
	put(many);
	assert_refused("more rounds than fit");
}

/* What stands in a string is text in the picture, and no markup. */
static void strings_are_escaped(void **state)
{
	(void)state;
	put(START "{\"event\":\"end\",\"side\":\"save\",\"engine\":\"<b>&\\u0007\\n\",\"domid\":5,\"pid\":7,\"t\":101.0}\n");
	RUN(&r, "report", in);
	assert_ran(&r, 0, ">engine &lt;b&gt;&amp;??, ", "");
}

static void files_that_cannot_be_used(void **state)
{
	(void)state;
	put(GOOD);
	RUN(&r, "report", "-o", "/dev/full", in);
	assert_ran(&r, 1, "", "Writing /dev/full failed (No space left on device)");
	RUN(&r, "report", "-o", "/nowhere/at/all", in);
	assert_ran(&r, 1, "", "Opening \"/nowhere/at/all\" failed");
	RUN(&r, "report", dir);
	assert_ran(&r, 1, "", "Found a directory");
	unlink(in);
	assert_refused("No such file");
	RUN(&r, "report");
	assert_ran(&r, 2, "", "found 0 files, expected one");
	RUN(&r, "report", "-x", in);
	assert_ran(&r, 2, "", "-x");
	RUN(&r, "report", "--help");
	assert_ran(&r, 0, "usage: xenferry report", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws), cmocka_unit_test(draws_the_last), cmocka_unit_test(draws_a_result),
		cmocka_unit_test(cut_anywhere), cmocka_unit_test(hostile), cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(files_that_cannot_be_used),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(out, sizeof(out), "%s/out.svg", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(in);
	unlink(out);
	rmdir(dir);
	return failed;
}
