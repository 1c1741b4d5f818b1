/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xenferry migrate against an xl and an ssh made of shell: what they are
 * called with, what their behaviour is made of, and what it says when they fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runcmd.h"

static struct ran r;
static char dir[] = "/tmp/migrateXXXXXX";

/*
 * `xl list` answers from the files name and state; `xl migrate` notes how it
 * was called and runs the file act; the receiver notes its surroundings.
 */
static const char fake_xl[] =
	"#!/bin/sh\n"
	"d=${0%/*}\n"
	"case $1 in\n"
	"list)\n"
	"    test -e $d/broken && { echo 'xencall: error: no'; exit 1; } >&2\n"
	"    test \"$2\" = 0 && { echo Name; echo Domain-0 0 512 1 r----- 9.9; exit; }\n"
	"    test \"$2\" = 5 -o \"$2\" = 'my guest' && test -e $d/state ||\n"
	"        { echo \"$2 is an invalid domain identifier (rc=-6)\" >&2; exit 1; }\n"
	"    echo 'Name                    ID   Mem VCPUs\tState\tTime(s)'\n"
	"    printf '%-20s %5d %5d %5d     %s  %8.1f\\n' \"$(cat $d/name)\" 5 128 1 \"$(cat $d/state)\" 5.3;;\n"
	"migrate)\n"
	"    printf '[%s]' \"$@\" >$d/args\n"
	"    echo \"$LIBXL_SAVE_HELPER $XENFERRY_STATS\" >$d/env\n"
	"    env | sed -n 's/^XENFERRY_\\(MAX.*\\|WHEN.*\\|PEER.*\\|TRACKER.*\\|VERIFY.*\\)/\\1/p' | sort >$d/limits\n"
	"    for rune; do :; done\n"
	"    . $d/act;;\n"
	"migrate-receive)\n"
	"    printf '[%s]' \"$@\" >$d/receive-args\n"
	"    echo \"$LIBXL_SAVE_HELPER $XENFERRY_STATS\" >$d/receive-env;;\n"
	"esac\n";

/* Calls what it is given, as ssh to this host would, unless told otherwise. */
static const char fake_ssh[] =
	"#!/bin/sh\n"
	"d=${0%/*}\n"
	"printf '[%s]' \"$@\" >>$d/ssh-args\n"
	"test -e $d/unreachable && { echo 'ssh: Could not resolve hostname' >&2; exit 255; }\n"
	"shift\n"
	"test -e $d/not-installed && test $1 = test && exit 1\n"
	"exec \"$@\"\n";

static const char good[] =
	"say() { echo \"{\\\"event\\\":\\\"$1\\\",\\\"side\\\":\\\"$2\\\",\\\"engine\\\":\\\"ours\\\",\\\"domid\\\":$3,\\\"pid\\\":$$,\\\"t\\\":$4$5}\" >>$XENFERRY_STATS; }\n"
	"say start save 5 100.0 ',\"pages\":32768,\"live\":true'\n"
	"say start restore 6 100.1 ',\"pages\":0'\n"
	"say progress save 5 101.0 ',\"round\":0,\"sent\":4096,\"of\":32768,\"bytes\":16800000'\n"
	"say round save 5 108.0 ',\"round\":0,\"pages\":32768,\"bytes\":134300000,\"seconds\":8.0,\"mib_s\":16.0,\"dirty\":1200,\"dirty_mib_s\":9.375,\"predicted_pause_ms\":412.5'\n"
	"say progress save 5 108.2 ',\"round\":1,\"sent\":600,\"of\":1200,\"bytes\":136760000,\"dirty_mib_s\":9.375'\n"
	"say suspended save 5 108.5 ',\"suspend_ms\":12.5'\n"
	"say round save 5 108.8 ',\"round\":1,\"pages\":1200,\"bytes\":4920000,\"seconds\":0.3,\"mib_s\":15.6,\"dirty\":-1'\n"
	"say end save 5 108.9 ',\"result\":0,\"total_s\":8.9,\"memory_s\":8.8,\"bytes\":139300000,\"rounds\":2,\"pages\":33968,\"zero_pages\":100,\"pause\":{\"suspend_ms\":12.5,\"collect_ms\":20.0,\"last_copy_ms\":300.0,\"state_ms\":100.0,\"release_ms\":30.0}'\n"
	"say end restore 6 109.0 ',\"result\":0,\"total_s\":8.8,\"bytes\":139300000,\"pages\":33968,\"apply_ms\":90.0'\n";

static void put(const char *name, const char *text, int mode)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static const char *get(const char *name)
{
	static char text[4096];
	char path[96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return "";
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static void drop(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static void set(const char *name, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, value);
	setenv(name, path, 1);
}

/* A host where all is well, and a domain that runs. */
static int fresh(void **state)
{
	static const char *const left[] = { "broken", "unreachable", "not-installed", "ssh-args",
					    "receive-args", "receive-env", "args", "env" };
	char path[256];
	(void)state;

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		drop(left[i]);
	put("xl", fake_xl, 0755);
	put("ssh", fake_ssh, 0755);
	put("helper", "", 0755);
	put("privcmd", "", 0600);
	put("name", "my guest", 0644);
	put("state", "-b----", 0644);
	put("act", good, 0644);
	set("XENFERRY_PRIVCMD", "privcmd");
	set("XENFERRY_HELPER", "helper");
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", dir);
	setenv("PATH", path, 1);
	return 0;
}

static void act(const char *more)
{
	char text[8192];

	snprintf(text, sizeof(text), "%s%s", good, more);
	put("act", text, 0644);
}

/* ---- it works ------------------------------------------------------------- */

static void test_success(void **state)
{
	char expect[512], stats[64];
	(void)state;

	act("sh -c \"$rune\" || exit 9\n");
	RUN(&r, "migrate", "my guest", "localhost");
	assert_ran(&r, 0, "Moved \"my guest\" (128 MiB) to localhost in ", "");
	assert_ran(&r, 0, "engine here, there   ours, ours\n", "");
	assert_ran(&r, 0, "rounds               2\n", "");
	assert_ran(&r, 0, "pages sent           33968, 100 of them zero\n", "");
	assert_ran(&r, 0, "bytes sent           132.8 MiB\n", "");
	/* 109.0 - 108.5, the later of both ends */
	assert_ran(&r, 0, "  suspending               12.5 ms\n"
			  "  pause of the engine     500.0 ms, of which\n"
			  "    last copy             300.0 ms\n"
			  "    state                 100.0 ms\n"
			  "    both sides' end       100.0 ms\n"
			  "    (finding the last pages 20.0, log-dirty off 30.0, applied there 90.0 ms)\n", "");
	assert_ran(&r, 0, "", "round 0: 32768 pages, 128.1 MiB in 8.00 s, 1200 dirty since, the pause would be 412 ms\n");
	assert_ran(&r, 0, "pause as predicted      412.5 ms\n", "");
	assert_ran(&r, 0, "", "round 1: 1200 pages, 4.7 MiB in 0.30 s\n");

	assert_int_equal(sscanf(get("env"), "%*s %63s", stats), 1);
	assert_int_not_equal(access(stats, F_OK), 0);	/* the FIFO is gone again */
	snprintf(expect, sizeof(expect), "%s/helper %s\n", dir, stats);
	assert_string_equal(get("env"), expect);
	assert_string_equal(get("receive-env"), expect);
	assert_string_equal(get("receive-args"), "[migrate-receive]");
	snprintf(expect, sizeof(expect), "[migrate][-s][][5][exec ssh 'localhost' env"
		 " LIBXL_SAVE_HELPER=%s/helper XENFERRY_STATS=%s xl migrate-receive]", dir, stats);
	assert_string_equal(get("args"), expect);
}

static void test_ssh_with_options(void **state)
{
	(void)state;
	RUN(&r, "migrate", "--ssh", "ssh -p 22", "5", "localhost");
	assert_ran(&r, 5, "", "with \"ssh -p 22\" failed");	/* the fake ssh runs "22" */
	assert_non_null(strstr(get("ssh-args"), "[-p][22][localhost][test][-x]"));
}

/* In xenferry connect's place: as the listener, it has xl migrate-receive run and nothing else. */
static const char fake_connect[] =
	"#!/bin/sh\n"
	"d=${0%/*}\n"
	"printf '[%s]' \"$@\" >>$d/ssh-args\n"
	"test -e $d/unreachable && { echo 'xenferry connect: there: no answer' >&2; exit 255; }\n"
	"while test $1 != there; do shift; done\n"
	"shift\n"
	"test \"$1 $2\" = 'xl migrate-receive' || { echo 'found a command that is not allowed' >&2; exit 255; }\n"
	"exec \"$@\"\n";

static void test_over_connect(void **state)
{
	char ssh[128];
	(void)state;

	put("xenferry", fake_connect, 0755);
	act("sh -c \"$rune\" || exit 9\n");
	snprintf(ssh, sizeof(ssh), " %s/xenferry connect -v --connections 2", dir);
	RUN(&r, "migrate", "--ssh", ssh, "--debug", "-p", "5", "there");
	assert_ran(&r, 0, "engine here, there   ours, ours\n", "");	/* the statistics say so here */
	assert_null(strstr(r.err, "not installed"));
	/* Nobody was asked whether we are installed there. */
	assert_string_equal(get("ssh-args"), "[connect][-v][--connections][2][there][xl][migrate-receive][-d][-p]");
	assert_string_equal(get("receive-args"), "[migrate-receive][-d][-p]");

	RUN(&r, "migrate", "--ssh", ssh, "--stock-receiver", "5", "there");
	assert_ran(&r, 2, "", "found --stock-receiver with");
	put("unreachable", "", 0644);
	put("act", "sh -c \"$rune\" || { echo 'migration target: reading banner failed' >&2; exit 1; }\n", 0644);
	RUN(&r, "migrate", "--ssh", ssh, "5", "there");
	assert_ran(&r, 5, "", "see that \"xenferry listen\" runs there and knows this host");
	drop("unreachable");
	drop("xenferry");

	/* Others' names that look like it: they are asked. */
	put("notxenferry", fake_ssh, 0755);
	snprintf(ssh, sizeof(ssh), "%s/notxenferry connect", dir);
	drop("ssh-args");
	RUN(&r, "migrate", "--ssh", ssh, "5", "there");
	assert_non_null(strstr(get("ssh-args"), "[test][-x]"));
	put("xenferry", fake_ssh, 0755);
	snprintf(ssh, sizeof(ssh), "%s/xenferry connects", dir);
	drop("ssh-args");
	RUN(&r, "migrate", "--ssh", ssh, "5", "there");
	assert_non_null(strstr(get("ssh-args"), "[test][-x]"));
	drop("xenferry");
	drop("notxenferry");
}

/* On a terminal: a bar with round, pages, rate and time left, and nothing of it at the end. */
static void test_bar(void **state)
{
	char line[512];
	const char *text;
	(void)state;

	put("act", good, 0644);
	snprintf(line, sizeof(line), "script -qec '%s migrate 5 localhost' /dev/null >%s/screen </dev/null",
		 getenv("XENFERRY"), dir);
	assert_int_equal(system(line), 0);
	text = get("screen");
	assert_non_null(strstr(text, "[==============] 100 %  all sent"));
	assert_non_null(strstr(text, "\r\033[KMoved"));
	assert_null(strstr(text, "round 0: 32768 pages"));
	/* Line by line, as they would come. */
	snprintf(line, sizeof(line), "sed -i 's/^say /sleep 0.15; say /' %s/act", dir);
	assert_int_equal(system(line), 0);
	snprintf(line, sizeof(line), "script -qec 'stty cols 120; %s migrate 5 localhost' /dev/null >%s/screen </dev/null",
		 getenv("XENFERRY"), dir);
	assert_int_equal(system(line), 0);
	text = get("screen");
	assert_non_null(strstr(text, "[=>            ]  12 %  round 0  28672 left  16.0 MiB/s  over 0:07 to go  16.0 MiB sent"));
	/* 3000 pages a second, of which the guest dirties 2400: the rounds to come take four times as long as this one. */
	assert_non_null(strstr(text, "[=======>      ]  50 %  round 1  600 left  11.7 MiB/s  pause 0.41 s  0:01 to go"
				     "  dirties 9.4 MiB/s  130.4 MiB sent"));
}

static void test_flags_to_both_ends(void **state)
{
	(void)state;
	act("sh -c \"$rune\" || exit 9\n");
	RUN(&r, "migrate", "--debug", "--paused", "-C", "guest.cfg", "-q", "5", "localhost");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out, "");
	assert_string_equal(r.err, "");
	assert_non_null(strstr(get("args"), "[migrate][--debug][-C][guest.cfg][-s][][5]["));
	assert_string_equal(get("receive-args"), "[migrate-receive][-d][-p]");
}

/* The helper finds the limits in its environment, and what is known of the other end. */
static void test_limits(void **state)
{
	(void)state;
	act("sh -c \"$rune\" || exit 9\n");
	RUN(&r, "migrate", "--max-pause", "50", "--max-rounds", "0", "--max-time", "60", "--max-bandwidth", "900",
	    "--when-stuck", "throttle", "--tracker", "content", "--verify-content", "-q", "5", "localhost");
	assert_int_equal(r.status, 0);
	assert_string_equal(get("limits"), "MAX_BANDWIDTH=900\nMAX_PAUSE=50\nMAX_ROUNDS=0\nMAX_TIME=60\n"
			    "PEER=version=" XENFERRY_VERSION " features=0x1\nTRACKER=content\nVERIFY_CONTENT=yes\n"
			    "WHEN_STUCK=throttle\n");
	/* Nothing is known of a stock one, nor of another host's, whatever the environment says. */
	setenv("XENFERRY_PEER", "version=0.1.0 features=0x1", 1);
	RUN(&r, "migrate", "--stock-receiver", "-q", "5", "localhost");
	assert_string_equal(get("limits"), "");
	RUN(&r, "migrate", "-q", "5", "root@elsewhere");
	assert_int_equal(r.status, 0);
	assert_string_equal(get("limits"), "");
	unsetenv("XENFERRY_PEER");
}

static void test_stock_receiver(void **state)
{
	(void)state;
	act("sh -c \"$rune\" || exit 9\n");
	RUN(&r, "migrate", "--stock-receiver", "5", "localhost");
	assert_ran(&r, 0, "Moved", "");
	assert_string_equal(get("receive-env"), " \n");
	put("not-installed", "", 0644);
	RUN(&r, "migrate", "5", "root@elsewhere");
	assert_ran(&r, 0, "Moved", "xenferry is not installed on root@elsewhere: the stock engine");
	assert_string_equal(get("receive-env"), " \n");
}

/* The name goes through the shells as one word. */
static void test_host_is_quoted(void **state)
{
	(void)state;
	act("sh -c \"$rune\" || exit 9\n");
	put("not-installed", "", 0644);
	RUN(&r, "migrate", "5", "a'b;touch $HOME c");
	assert_ran(&r, 0, "Moved", "");
	assert_non_null(strstr(get("ssh-args"), "[a'b;touch $HOME c][test][-x]"));
	assert_non_null(strstr(get("ssh-args"), "[a'b;touch $HOME c][env][-u]"));
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return v;
}

static void test_json(void **state)
{
	struct json_object *all;
	char path[96];
	(void)state;

	snprintf(path, sizeof(path), "%s/json", dir);
	RUN(&r, "migrate", "--json", path, "5", "localhost");
	assert_ran(&r, 0, "Moved", "");
	all = json_object_from_file(path);
	assert_non_null(all);
	assert_string_equal(json_object_get_string(member(all, "result")), "migrated");
	assert_true(json_object_get_double(member(all, "engine_pause_ms")) == 500);
	assert_true(json_object_get_double(member(all, "predicted_pause_ms")) == 412.5);
	assert_int_equal(json_object_array_length(member(all, "rounds")), 2);
	assert_int_equal(json_object_get_int(member(member(all, "save"), "pages")), 33968);
	assert_int_equal(json_object_get_int(member(member(all, "restore"), "domid")), 6);
	json_object_put(all);

	put("act", "echo 'xc: error: it broke' >&2; exit 1\n", 0644);
	RUN(&r, "migrate", "--json", path, "5", "localhost");
	assert_int_equal(r.status, 1);
	all = json_object_from_file(path);
	assert_string_equal(json_object_get_string(member(all, "result")), "failed");
	assert_non_null(strstr(json_object_get_string(member(all, "error")), "it broke"));
	assert_null(member(all, "save"));
	json_object_put(all);
	unlink(path);

	RUN(&r, "migrate", "--json", "/nonexistent/json", "5", "localhost");
	assert_ran(&r, 3, "", "Opening \"/nonexistent/json\" failed (No such file or directory): expected");
}

static void test_verbose(void **state)
{
	(void)state;
	act("echo 'migration sender: hello' >&2\n");
	RUN(&r, "migrate", "-v", "5", "localhost");
	assert_ran(&r, 0, "Moved", "migration sender: hello\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_null(strstr(r.err, "hello"));
}

static void test_garbage_lines(void **state)
{
	(void)state;
	act("s=$XENFERRY_STATS\n"
	    "echo 'not json' >>$s\n"
	    "echo '{\"event\":\"end\",\"side\":\"save\",\"domid\":\"5\",\"t\":\"x\"}' >>$s\n"
	    "echo '[1,2,3]' >>$s; echo null >>$s; echo '{' >>$s\n"
	    "echo '{\"event\":\"round\",\"side\":\"save\",\"domid\":5,\"t\":1,\"round\":-7}' >>$s\n"
	    "echo '{\"event\":\"progress\",\"side\":\"save\",\"domid\":5,\"t\":1,\"round\":{}}' >>$s\n"
	    "head -c 60000 /dev/zero | tr '\\0' x >>$s; echo >>$s\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 0, "rounds               2\n", "8 of 17 statistics lines made no sense");
}

static void test_no_statistics(void **state)
{
	(void)state;
	put("act", "exit 0\n", 0644);
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 0, "The helper gave no statistics.", "");
	/* A remote end has its own clock: its part of the pause isn't known. */
	put("act", good, 0644);
	put("not-installed", "", 0644);
	RUN(&r, "migrate", "5", "elsewhere");
	assert_ran(&r, 0, "Moved", "");
}

/* ---- it can't begin ----------------------------------------------------------- */

static void test_this_host(void **state)
{
	struct running_command c;
	char copy[96], line[256];
	(void)state;

	drop("helper");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 3, "", "/helper (No such file or directory), expected xenferry's save helper");
	drop("privcmd");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 3, "", "/privcmd failed (No such file or directory): expected the device of a Xen Dom0");
	fresh(NULL);
	setenv("PATH", "/nonexistent", 1);
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 3, "", "Found no xl in PATH, expected Xen's toolstack");
	fresh(NULL);

	/* Somebody else must be able to reach the program. */
	chmod(dir, 0755);
	snprintf(copy, sizeof(copy), "%s/xenferry", dir);
	snprintf(line, sizeof(line), "cp %s %s", getenv("XENFERRY"), copy);
	assert_int_equal(system(line), 0);
	snprintf(line, sizeof(line), "%s", getenv("XENFERRY"));
	setenv("XENFERRY", copy, 1);
	run_begin(&c, (const char *const[]){ "migrate", "5", "localhost", NULL }, -1, 1);
	run_end(&c, &r);
	setenv("XENFERRY", line, 1);
	unlink(copy);
	assert_ran(&r, 3, "", "expected root, whom alone Xen lets move domains");
}

static void test_domain(void **state)
{
	(void)state;
	RUN(&r, "migrate", "nosuch", "localhost");
	assert_ran(&r, 4, "", "Found no domain \"nosuch\", expected the name or number of a running one");
	RUN(&r, "migrate", "0", "localhost");
	assert_ran(&r, 4, "", "Found Dom0 under \"0\", expected a guest");
	put("broken", "", 0644);
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 3, "", "Asking \"xl list 5\" failed (Input/output error): expected");
	assert_string_equal(get("args"), "");
}

static void test_host(void **state)
{
	(void)state;
	put("unreachable", "", 0644);
	RUN(&r, "migrate", "5", "nowhere");
	assert_ran(&r, 5, "", "Reaching nowhere with \"ssh\" failed (exit status 255, \"ssh: Could not"
			      " resolve hostname\"): expected an answer");
	assert_string_equal(get("args"), "");
	RUN(&r, "migrate", "--ssh", "/nonexistent/ssh", "5", "nowhere");
	assert_ran(&r, 5, "", "(exit status 127, ");
	fresh(NULL);
	put("act", "echo 'libxl: error: file/stream truncated reading banner from migration receiver"
	    " stream' >&2; exit 1\n", 0644);
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 5, "", "Starting xl on localhost failed");
	assert_ran(&r, 5, "", "\"my guest\" was not touched and runs on here");
}

static void test_usage(void **state)
{
	(void)state;
	RUN(&r, "migrate", "--help");
	assert_ran(&r, 0, "exit status: 0 the domain runs on HOST", "");
	RUN(&r, "migrate", "5");
	assert_ran(&r, 2, "", "found 1 arguments, expected a domain and a host; see \"xenferry migrate --help\".");
	RUN(&r, "migrate", "5", "");
	assert_ran(&r, 2, "", "found \"\" as the host");
	RUN(&r, "migrate", "--", "5", "-oProxyCommand=x");
	assert_ran(&r, 2, "", "found \"-oProxyCommand=x\" as the host, expected a name or address");
	RUN(&r, "migrate", "--", "-a", "h");
	assert_ran(&r, 2, "", "found \"-a\" as the domain");
	RUN(&r, "migrate", "--tracker", "none", "5", "h");
	assert_ran(&r, 2, "", "found \"none\" for --tracker, expected auto, log-dirty or content");
	RUN(&r, "migrate", "--ssh", " ", "5", "h");
	assert_ran(&r, 2, "", "found an empty --ssh");
	RUN(&r, "migrate", "-q", "-v", "5", "h");
	assert_ran(&r, 2, "", "found --quiet with --verbose");
	RUN(&r, "migrate", "5", "h", "--json");
	assert_ran(&r, 2, "", "found \"--json\" without a value");
	RUN(&r, "migrate", "--frob", "5", "h");
	assert_ran(&r, 2, "", "found \"--frob\", expected one of the options");
}

/* ---- it fails -------------------------------------------------------------------- */

static void test_failed(void **state)
{
	(void)state;
	act("echo 'Saving to migration stream new xl format' >&2\n"
	    "echo 'xc: error: Record 4 (PAGE_DATA) at byte 245: found this, expected that.' >&2\n"
	    "echo 'libxl: error: something after it' >&2\n"
	    "echo 'Migration failed, resuming at sender.' >&2; exit 1\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 1, "", "Moving \"my guest\" to localhost failed (xl's exit status 1, \"xc: error:"
			      " Record 4 (PAGE_DATA) at byte 245: found this, expected that.\")");
	assert_ran(&r, 1, "", "the domain runs on here as number 5, so mend that and try again.");
	assert_ran(&r, 1, "", "What xl said last:\n  Saving to migration stream");
}

/* What the other host says can't play with the user's terminal. */
static void test_escape_sequences(void **state)
{
	(void)state;
	put("act", "printf 'evil \\033]0;title\\007 \\177 \\000 said\\n' >&2; exit 1\n", 0644);
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 1, "", "\"evil ?]0;title? ? ? said\"");
	assert_null(strchr(r.err, '\033'));
}

static void test_much_said(void **state)
{
	(void)state;
	put("act", "i=0; while [ $i -lt 9000 ]; do echo \"line $i of a long story that nobody wants\";"
		   " i=$((i + 1)); done >&2; exit 1\n", 0644);
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 1, "", "\"line 8999 of a long story");
	assert_ran(&r, 1, "", "What xl said last:\n  line 8980 of");
}

static void test_killed(void **state)
{
	(void)state;
	act("kill -9 $$\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 1, "", "(xl's exit status 137, \"\")");
	assert_ran(&r, 1, "", "runs on here as number 5");
}

static void test_unsure(void **state)
{
	(void)state;
	act("echo 'my guest--migratedaway' >$d/name; exit 1\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 6, "", "found the domain given away as \"my guest--migratedaway\"");
	fresh(NULL);
	act("echo ---s-- >$d/state; exit 1\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 6, "", "found the domain standing still here (state ---s--)");
	fresh(NULL);
	act("rm $d/state; exit 1\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 6, "", "number 5 is no longer here: expected it here or there");
	fresh(NULL);
	act("touch $d/broken; exit 1\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 6, "", "and so did asking \"xl list\" about it (Input/output error)");
	fresh(NULL);
	/* Paused before, paused after: as it was. */
	put("state", "--p---", 0644);
	act("exit 1\n");
	RUN(&r, "migrate", "5", "localhost");
	assert_ran(&r, 1, "", "runs on here");
}

/* ---- it is stopped ---------------------------------------------------------------- */

static void interrupt(const char *script, const char *ready, int times)
{
	struct running_command c;

	drop(ready);
	put("act", script, 0644);
	run_begin(&c, (const char *const[]){ "migrate", "5", "localhost", NULL }, -1, 0);
	for (int i = 0; i < 3000 && !get(ready)[0]; i++)
		usleep(10000);
	for (int i = 0; i < times; i++) {
		usleep(300000);		/* two signals at once would be one */
		kill(c.pid, SIGINT);
	}
	run_end(&c, &r);
	drop(ready);
}

/* The helper gets SIGTERM, and xl ends by itself. */
static void test_interrupt(void **state)
{
	(void)state;
	interrupt("cat >$d/h <<'END'\n"
		  "trap 'echo yes >$d/terminated; exit 1' TERM\n"
		  "echo \"{\\\"event\\\":\\\"start\\\",\\\"side\\\":\\\"save\\\",\\\"domid\\\":5,\\\"pid\\\":$$,\\\"t\\\":1.0}\" >>$XENFERRY_STATS\n"
		  "echo ready >$d/ready\n"
		  "while :; do sleep 0.05; done\n"
		  "END\n"
		  "export d; sh $d/h; echo 'migration sender: libxl_domain_suspend failed' >&2; exit 1\n",
		  "ready", 1);
	assert_ran(&r, 130, "", "Moving \"my guest\" to localhost was stopped as asked: the domain runs on here as number 5.");
	assert_string_equal(get("terminated"), "yes\n");
	drop("terminated");
}

/* A pid that isn't xl's child is nobody we may signal. */
static void test_interrupt_foreign_pid(void **state)
{
	char script[512];
	(void)state;

	snprintf(script, sizeof(script),
		 "echo '{\"event\":\"start\",\"side\":\"save\",\"domid\":5,\"pid\":%d,\"t\":1.0}' >>$XENFERRY_STATS\n"
		 "echo ready >$d/ready; sleep 60 & wait\n", (int)getpid());
	interrupt(script, "ready", 2);
	assert_ran(&r, 130, "", "was stopped as asked");
}

static void test_interrupt_before_helper(void **state)
{
	(void)state;
	interrupt("echo ready >$d/ready; sleep 60 & wait\n", "ready", 2);
	assert_ran(&r, 130, "", "Stopping: waiting for xl");
	/* One is enough if no helper shows up. */
	interrupt("echo ready >$d/ready; sleep 60 & wait\n", "ready", 1);
	assert_ran(&r, 130, "", "was stopped as asked");
}

static void test_interrupt_too_late(void **state)
{
	char script[8192];
	(void)state;

	snprintf(script, sizeof(script), "%s sleep 0.3; echo ready >$d/ready; sleep 1.5\n", good);
	interrupt(script, "ready", 1);
	assert_ran(&r, 0, "Moved", "Too late to stop: the domain is being handed over.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_success, fresh),
		cmocka_unit_test_setup(test_ssh_with_options, fresh),
		cmocka_unit_test_setup(test_over_connect, fresh),
		cmocka_unit_test_setup(test_bar, fresh),
		cmocka_unit_test_setup(test_flags_to_both_ends, fresh),
		cmocka_unit_test_setup(test_limits, fresh),
		cmocka_unit_test_setup(test_stock_receiver, fresh),
		cmocka_unit_test_setup(test_host_is_quoted, fresh),
		cmocka_unit_test_setup(test_json, fresh),
		cmocka_unit_test_setup(test_verbose, fresh),
		cmocka_unit_test_setup(test_garbage_lines, fresh),
		cmocka_unit_test_setup(test_no_statistics, fresh),
		cmocka_unit_test_setup(test_this_host, fresh),
		cmocka_unit_test_setup(test_domain, fresh),
		cmocka_unit_test_setup(test_host, fresh),
		cmocka_unit_test_setup(test_usage, fresh),
		cmocka_unit_test_setup(test_failed, fresh),
		cmocka_unit_test_setup(test_escape_sequences, fresh),
		cmocka_unit_test_setup(test_much_said, fresh),
		cmocka_unit_test_setup(test_killed, fresh),
		cmocka_unit_test_setup(test_unsure, fresh),
		cmocka_unit_test_setup(test_interrupt, fresh),
		cmocka_unit_test_setup(test_interrupt_foreign_pid, fresh),
		cmocka_unit_test_setup(test_interrupt_before_helper, fresh),
		cmocka_unit_test_setup(test_interrupt_too_late, fresh),
	};
	char line[64];
	int failed;

	if (!mkdtemp(dir))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(line, sizeof(line), "rm -rf %s", dir);
	return system(line) || failed;
}
