/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helper's surroundings: configuration, the stock helper, stock calls timed from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/config.h"
#include "helper/passthrough.h"
#include "helper/stock_helper.h"

static char dir[64];

static const char *put_file(const char *name, const char *text, mode_t mode)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/xenferry-helper-XXXXXX");
	unsetenv("XENFERRY_STATS");
	unsetenv("XENFERRY_ENGINE");
	unsetenv("XENFERRY_STOCK_HELPER");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* ---- configuration ------------------------------------------------------ */

static void config_of_a_file(void **state)
{
	struct config c;

	(void)state;
	config_load(put_file("c", "# a comment\n\n  stats =  /var/log/x y \nengine=stock\ncolour = blue\n", 0644), &c);
	assert_string_equal(c.stats, "/var/log/x y");
	assert_true(c.stock_engine);
	assert_string_equal(c.problem, "");
}

static void config_of_limits(void **state)
{
	struct config c;

	(void)state;
	config_load(put_file("c", "max-pause = 150\nmax-rounds = 0\nmax-time=90\nmax-bandwidth = 100\n"
			     "when-stuck = throttle\nelide-zero = always\nlarge-pages = no\n"
			     "tracker = content\ncontent-threads = 3\nverify-content = yes\n", 0644), &c);
	assert_string_equal(c.problem, "");
	assert_int_equal((int)c.limits.max_pause_ms, 150);
	assert_int_equal(c.limits.max_rounds, 0);
	assert_int_equal((int)c.limits.max_time_s, 90);
	assert_int_equal(c.max_bandwidth, 12500000);
	assert_int_equal(c.limits.when_stuck, POLICY_THROTTLE);
	assert_int_equal(c.elide_zero, ELIDE_ALWAYS);
	assert_true(c.single_pages);
	assert_int_equal(c.tracker, TRACKER_CONTENT);
	assert_int_equal(c.content_threads, 3);
	assert_true(c.verify_content);

	setenv("XENFERRY_WHEN_STUCK", "abort", 1);
	setenv("XENFERRY_MAX_PAUSE", "20", 1);
	setenv("XENFERRY_ELIDE_ZERO", "never", 1);
	setenv("XENFERRY_TRACKER", "log-dirty", 1);
	setenv("XENFERRY_CONTENT_THREADS", "16", 1);
	setenv("XENFERRY_VERIFY_CONTENT", "no", 1);
	config_load(put_file("c", "when-stuck = throttle\ntracker = auto\nverify-content = yes\n", 0644), &c);
	assert_int_equal(c.limits.when_stuck, POLICY_GIVE_UP);
	assert_int_equal((int)c.limits.max_pause_ms, 20);
	assert_int_equal(c.elide_zero, ELIDE_NEVER);
	assert_int_equal(c.tracker, TRACKER_LOG_DIRTY);
	assert_int_equal(c.content_threads, 16);
	assert_false(c.verify_content);
	unsetenv("XENFERRY_TRACKER");
	unsetenv("XENFERRY_CONTENT_THREADS");
	unsetenv("XENFERRY_VERIFY_CONTENT");
	unsetenv("XENFERRY_WHEN_STUCK");
	unsetenv("XENFERRY_MAX_PAUSE");
	unsetenv("XENFERRY_ELIDE_ZERO");

	config_load("/nowhere/at/all", &c);
	assert_int_equal((int)c.limits.max_pause_ms, 300);
	assert_int_equal(c.limits.when_stuck, POLICY_PAUSE);
	assert_int_equal(c.max_bandwidth, 0);
	assert_int_equal(c.tracker, TRACKER_AUTO);
	assert_int_equal(c.content_threads, 0);
	assert_false(c.verify_content);
}

/* Of each key: its variable wins. */
static void each_variable(void **state)
{
	static const char file[] = "max-rounds = 1\nmax-time = 1\nmax-bandwidth = 1\nlarge-pages = yes\n";
	static const char *const variables[][2] = {
		{ "XENFERRY_MAX_ROUNDS", "7" }, { "XENFERRY_MAX_TIME", "60" }, { "XENFERRY_MAX_BANDWIDTH", "8" },
		{ "XENFERRY_LARGE_PAGES", "no" },
	};
	struct config c;

	(void)state;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		setenv(variables[i][0], variables[i][1], 1);
	config_load(put_file("c", file, 0644), &c);
	assert_string_equal(c.problem, "");
	assert_int_equal(c.limits.max_rounds, 7);
	assert_int_equal((int)c.limits.max_time_s, 60);
	assert_int_equal(c.max_bandwidth, 1000000);
	assert_true(c.single_pages);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i][0]);
}

/* Each is told, and the default stands. */
static void config_of_wrong_limits(void **state)
{
	static const char *const wrong[] = {
		"max-pause = 0", "max-pause = soon", "max-pause = 3600001", "max-rounds = -1", "max-rounds = 1.5",
		"max-time = 99999999999999999999", "max-bandwidth = 1e3", "when-stuck = never",
		"elide-zero = yes", "large-pages = 2", "max-time =", "tracker = none",
		"content-threads = 17", "verify-content = 1",
	};
	struct config c;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		config_load(put_file("c", wrong[i], 0644), &c);
		assert_non_null(strstr(c.problem, "line 1"));
		assert_non_null(strstr(c.problem, "must be"));
		assert_int_equal(c.problem[strlen(c.problem) - 1], '.');
		assert_memory_equal(&c.limits, &policy_default_limits, sizeof(c.limits));
		assert_int_equal(c.max_bandwidth, 0);
		assert_int_equal(c.elide_zero, ELIDE_AUTO);
		assert_false(c.single_pages);
		assert_int_equal(c.tracker, TRACKER_AUTO);
		assert_int_equal(c.content_threads, 0);
		assert_false(c.verify_content);
	}
}

static void config_without_a_file(void **state)
{
	struct config c;

	(void)state;
	config_load("/nowhere/at/all", &c);
	assert_string_equal(c.stats, "");
	assert_false(c.stock_engine);
	assert_string_equal(c.problem, "");
}

static void environment_wins(void **state)
{
	struct config c;

	(void)state;
	setenv("XENFERRY_STATS", "/tmp/other", 1);
	setenv("XENFERRY_ENGINE", "ours", 1);
	config_load(put_file("c", "stats = /var/log/x\nengine = stock\n", 0644), &c);
	assert_string_equal(c.stats, "/tmp/other");
	assert_false(c.stock_engine);
	setenv("XENFERRY_STATS", "", 1);	/* as if unset */
	config_load(put_file("c", "stats = /var/log/x\n", 0644), &c);
	assert_string_equal(c.stats, "/var/log/x");
}

static void mistakes_are_named(void **state)
{
	char text[PATH_MAX + 64];
	struct config c;

	(void)state;
	config_load(put_file("c", "\nengine = theirs\n", 0644), &c);
	assert_false(c.stock_engine);
	assert_non_null(strstr(c.problem, "c line 2 asks for the engine \"theirs\""));
	config_load(put_file("c", "stats /var/log/x\n", 0644), &c);
	assert_non_null(strstr(c.problem, "c line 1 is not of the form"));
	assert_string_equal(c.stats, "");
	snprintf(text, sizeof(text), "stats = %0*d\n", PATH_MAX, 1);
	config_load(put_file("c", text, 0644), &c);
	assert_non_null(strstr(c.problem, "too long"));
	assert_string_equal(c.stats, "");
	setenv("XENFERRY_ENGINE", "mine", 1);
	config_load("/nowhere/at/all", &c);
	assert_non_null(strstr(c.problem, "XENFERRY_ENGINE asks for the engine \"mine\""));
	config_load(dir, &c);		/* can't be read as a file */
	assert_false(c.stock_engine);
}

/* ---- the stock helper --------------------------------------------------- */

static void helper_named(void **state)
{
	struct stock_helper h;

	(void)state;
	put_file("major", "4\n", 0644);
	put_file("minor", "17\n", 0644);
	setenv("XENFERRY_STOCK_HELPER", put_file("helper", "#!/bin/sh\n", 0755), 1);
	assert_int_equal(stock_helper_find(dir, &h), 0);
	assert_string_equal(h.path, getenv("XENFERRY_STOCK_HELPER"));
	assert_true(h.same_version);
	/* No version to compare with: taken at its word. */
	assert_int_equal(stock_helper_find("/nowhere/at/all", &h), 0);
	assert_true(h.same_version);
}

static void helper_named_is_missing(void **state)
{
	struct stock_helper h;

	(void)state;
	setenv("XENFERRY_STOCK_HELPER", "/nowhere/at/all", 1);
	assert_int_equal(stock_helper_find(dir, &h), -ENOENT);
	assert_non_null(strstr(h.why, "XENFERRY_STOCK_HELPER names /nowhere/at/all"));
	assert_non_null(strstr(h.why, "No such file"));
}

static void helper_of_another_version(void **state)
{
	struct stock_helper h;

	(void)state;
	put_file("major", "9\n", 0644);
	put_file("minor", "99\n", 0644);
	assert_int_equal(stock_helper_find(dir, &h), -ENOENT);
	assert_non_null(strstr(h.why, "no libxl-save-helper of Xen 9.99 found"));
	assert_false(h.same_version);
	setenv("XENFERRY_STOCK_HELPER", put_file("helper", "#!/bin/sh\n", 0755), 1);
	assert_int_equal(stock_helper_find(dir, &h), 0);
	assert_false(h.same_version);
	assert_non_null(strstr(h.why, "Xen 9.99 is running but xenferry was built for Xen " XENFERRY_XEN_VERSION));
}

static void not_under_xen(void **state)
{
	struct stock_helper h;

	(void)state;
	assert_int_equal(stock_helper_find("/nowhere/at/all", &h), -ENOENT);
	assert_non_null(strstr(h.why, "seems not to be a Xen Dom0"));
	put_file("major", "four\n", 0644);
	put_file("minor", "17\n", 0644);
	assert_int_equal(stock_helper_find(dir, &h), -ENOENT);
}

/* ---- stock calls, timed from outside ------------------------------------ */

/* libxenguest's functions, for dlsym to find. */
static struct {
	unsigned suspends, policies, qemu, restores;
	int answer;
	const struct save_callbacks *callbacks;
} stock;

static int fake_save(xc_interface *xch, int io_fd, uint32_t dom, uint32_t flags,
		     struct save_callbacks *callbacks, xc_stream_type_t type, int recv_fd)
{
	assert_ptr_equal(xch, NULL);
	assert_int_equal(dom, 5);
	assert_int_equal(flags, XCFLAGS_LIVE);
	assert_int_equal(type, XC_STREAM_PLAIN);
	assert_int_equal(recv_fd, -1);
	stock.callbacks = callbacks;
	assert_int_equal(callbacks->switch_qemu_logdirty(5, 1, callbacks->data), 0);
	if (callbacks->precopy_policy)
		for (unsigned i = 0; i < 3; i++) {
			const struct precopy_stats s = { .iteration = i, .dirty_count = i == 2 ? 3 : 100 };

			assert_int_equal(callbacks->precopy_policy(s, callbacks->data), i == 2);
		}
	assert_int_equal(callbacks->suspend(callbacks->data), 1);
	assert_int_equal(write(io_fd, "pages", 5), 5);
	errno = EBADF;
	return stock.answer;
}

static int fake_restore(xc_interface *xch, int io_fd, uint32_t dom, unsigned int store_evtchn,
			unsigned long *store_mfn, uint32_t store_domid, unsigned int console_evtchn,
			unsigned long *console_mfn, uint32_t console_domid, xc_stream_type_t type,
			struct restore_callbacks *callbacks, int send_back_fd)
{
	(void)xch, (void)io_fd, (void)callbacks;
	assert_int_equal(dom, 6);
	assert_int_equal(store_evtchn, 1);
	assert_int_equal(store_domid, 2);
	assert_int_equal(console_evtchn, 3);
	assert_int_equal(console_domid, 4);
	assert_int_equal(type, XC_STREAM_REMUS);
	assert_int_equal(send_back_fd, 8);
	*store_mfn = 100;
	*console_mfn = 101;
	stock.restores++;
	errno = EBADF;
	return stock.answer;
}

void *__wrap_dlsym(void *handle, const char *name);

static bool libxenguest_is_there;

void *__wrap_dlsym(void *handle, const char *name)
{
	(void)handle;
	if (!libxenguest_is_there)
		return NULL;
	return !strcmp(name, "xc_domain_save") ? (void *)fake_save : (void *)fake_restore;
}

static int suspend(void *data)
{
	assert_ptr_equal(data, &stock);
	stock.suspends++;
	return 1;
}

static int qemu(uint32_t domid, unsigned enable, void *data)
{
	assert_ptr_equal(data, &stock);
	assert_int_equal(domid, 5);
	assert_int_equal(enable, 1);
	stock.qemu++;
	return 0;
}

static const char *contents(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static int save_stock(int answer, const char *stats)
{
	struct save_callbacks cb = { .suspend = suspend, .switch_qemu_logdirty = qemu, .data = &stock };
	struct save_call call = {
		.io_fd = fileno(tmpfile()), .dom = 5, .flags = XCFLAGS_LIVE, .callbacks = &cb, .recv_fd = -1,
	};
	int rc;

	libxenguest_is_there = true;
	memset(&stock, 0, sizeof(stock));
	stock.answer = answer;
	rc = passthrough_save(&call, stats);
	assert_int_equal(errno, EBADF);
	assert_int_equal(stock.suspends, 1);
	assert_int_equal(stock.qemu, 1);
	/* Without statistics nothing stands between. */
	assert_int_equal(stock.callbacks == &cb, !*stats);
	return rc;
}

static void stock_save(void **state)
{
	char stats[128];

	(void)state;
	strcpy(stats, put_file("stats", "", 0644));
	assert_int_equal(save_stock(0, ""), 0);
	assert_int_equal(save_stock(0, stats), 0);
	assert_non_null(strstr(contents(stats), "\"event\":\"suspended\",\"side\":\"save\",\"engine\":\"stock\",\"domid\":5"));
	assert_non_null(strstr(contents(stats), "\"result\":0,"));
	assert_non_null(strstr(contents(stats), "\"rounds\":3,"));
	assert_int_equal(save_stock(-1, stats), -1);
	assert_non_null(strstr(contents(stats), "\"result\":-9,"));
}

static int restore_stock(int answer, const char *stats)
{
	unsigned long store = 0, console = 0;
	struct restore_call call = {
		.dom = 6, .store_evtchn = 1, .store_gfn = &store, .store_domid = 2, .console_evtchn = 3,
		.console_gfn = &console, .console_domid = 4, .stream_type = XC_STREAM_REMUS, .send_back_fd = 8,
	};
	int rc;

	libxenguest_is_there = true;
	memset(&stock, 0, sizeof(stock));
	stock.answer = answer;
	rc = passthrough_restore(&call, stats);
	assert_int_equal(errno, EBADF);
	assert_int_equal(stock.restores, 1);
	assert_int_equal(store, 100);
	assert_int_equal(console, 101);
	return rc;
}

static void stock_restore(void **state)
{
	char stats[128];

	(void)state;
	strcpy(stats, put_file("stats", "", 0644));
	assert_int_equal(restore_stock(0, ""), 0);
	assert_int_equal(restore_stock(0, stats), 0);
	assert_non_null(strstr(contents(stats), "\"event\":\"end\",\"side\":\"restore\",\"engine\":\"stock\",\"domid\":6"));
	assert_int_equal(restore_stock(-1, stats), -1);
	assert_non_null(strstr(contents(stats), "\"result\":-9,"));
}

static void stock_is_not_there(void **state)
{
	struct save_call save = { .dom = 5 };
	struct restore_call restore = { .dom = 5 };

	(void)state;
	libxenguest_is_there = false;
	assert_int_equal(passthrough_save(&save, ""), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(passthrough_restore(&restore, ""), -1);
	assert_int_equal(errno, ENOSYS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(config_of_a_file),
		TEST(config_of_limits),
		TEST(each_variable),
		TEST(config_of_wrong_limits),
		TEST(config_without_a_file),
		TEST(environment_wins),
		TEST(mistakes_are_named),
		TEST(helper_named),
		TEST(helper_named_is_missing),
		TEST(helper_of_another_version),
		TEST(not_under_xen),
		TEST(stock_save),
		TEST(stock_restore),
		TEST(stock_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
