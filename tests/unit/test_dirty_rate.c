/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry dirty-rate against a Xen made here: what it says, refuses, and leaves behind when it is stopped or killed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>
#include <xcbatch.h>
#include <xenctrl.h>

#include "bench/bench.h"
#include "cmd.h"
#include "guest/guard.h"
#include "runinside.h"

#define DOMID  5
#define FRAMES 4096

/* Shared with the guard and with children. */
static struct xen {
	bool pv, shut_down, gone;
	int fail_open, fail_info, fail_start, fail_collect, fail_peek;
	int on;			/* log-dirty: by so many */
	int offs;
	uint64_t count, bitmap;	/* dirty pages, as Xen counts them and as its bitmap has them */
	unsigned peeks, signal_at, signal, taken_at, pages_a_peek, most;
} *xen;
static int handles, trackers;

/* ---- libxenctrl, libxcbatch ---------------------------------------------------- */

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild, unsigned flags)
{
	(void)logger, (void)dombuild, (void)flags;
	errno = xen->fail_open;
	if (xen->fail_open)
		return NULL;
	handles++;
	return (xc_interface *)xen;
}

int xc_interface_close(xc_interface *xch)
{
	(void)xch;
	handles--;
	return 0;
}

int xc_domain_getinfo(xc_interface *xch, uint32_t first, unsigned max, xc_dominfo_t *info)
{
	(void)xch;
	assert_int_equal(max, 1);
	errno = xen->fail_info;
	if (xen->fail_info)
		return -1;
	memset(info, 0, sizeof(*info));
	info->domid = xen->gone ? first + 1 : first;
	info->hvm = !xen->pv;
	info->shutdown = xen->shut_down;
	info->shutdown_reason = SHUTDOWN_crash;
	return 1;
}

int xc_domain_getinfolist(xc_interface *xch, uint32_t first, unsigned max, xc_domaininfo_t *info)
{
	(void)xch;
	assert_int_equal(max, 1);
	memset(info, 0, sizeof(*info));
	info->domain = (domid_t)first;
	info->tot_pages = FRAMES - 96;
	return 1;
}

int xc_domain_nr_gpfns(xc_interface *xch, uint32_t domid, xen_pfn_t *frames)
{
	(void)xch;
	assert_int_equal(domid, DOMID);
	*frames = FRAMES;
	return 0;
}

int xc_shadow_control(xc_interface *xch, uint32_t domid, unsigned op, unsigned *mb, unsigned mode)
{
	(void)xch, (void)mb, (void)mode;
	assert_int_equal(domid, DOMID);
	assert_int_equal(op, XEN_DOMCTL_SHADOW_OP_OFF);
	xen->on--;
	xen->offs++;
	return 0;
}

long long xc_logdirty_control(xc_interface *xch, uint32_t domid, unsigned op, xc_hypercall_buffer_t *map,
			      unsigned long pages, unsigned mode, xc_shadow_op_stats_t *stats)
{
	uint64_t *words = map->hbuf;

	(void)xch;
	assert_int_equal(domid, DOMID);
	assert_int_equal(op, XEN_DOMCTL_SHADOW_OP_PEEK);	/* nothing is taken from anybody */
	assert_int_equal(pages, FRAMES);
	assert_int_equal(mode, 0);
	memset(words, 0, FRAMES / 8);
	for (uint64_t i = 0; i < xen->bitmap; i++)
		xcbatch_bitmap_set(words, i);
	stats->dirty_count = (uint32_t)xen->count;
	return FRAMES;
}

void *xc__hypercall_buffer_alloc_pages(xc_interface *xch, xc_hypercall_buffer_t *b, int pages)
{
	(void)xch;
	assert_int_equal(pages, 1);
	b->hbuf = malloc((size_t)pages * XC_PAGE_SIZE);
	return b->hbuf;
}

void xc__hypercall_buffer_free_pages(xc_interface *xch, xc_hypercall_buffer_t *b, int pages)
{
	(void)xch, (void)pages;
	free(b->hbuf);
}

int bench_find_domain(const char *domain, struct bench_target *out)
{
	memset(out, 0, sizeof(*out));
	out->domid = strcmp(domain, "Domain-0") ? DOMID : 0;
	return !strcmp(domain, "nobody") ? -ENXIO : !strcmp(domain, "nowhere") ? -ENOENT : 0;
}

struct xentoollog_logger *bench_quiet(void)
{
	return NULL;
}

int xcbatch_dirty_start(uint32_t domid, uint64_t frames, struct xcbatch_dirty **out)
{
	assert_int_equal(domid, DOMID);
	assert_int_equal(frames, FRAMES);
	if (xen->fail_start)
		return xen->fail_start;
	if (xen->on)
		return -EBUSY;
	xen->on++;
	trackers++;
	xen->count = 77;	/* left by an earlier tracking */
	xen->bitmap = 3;
	*out = (struct xcbatch_dirty *)xen;
	return 0;
}

int xcbatch_dirty_collect(struct xcbatch_dirty *d, uint64_t *map, uint64_t *dirty)
{
	(void)d, (void)map;
	*dirty = xen->bitmap;
	xen->count = xen->bitmap = 0;
	return xen->fail_collect;
}

int xcbatch_dirty_peek(struct xcbatch_dirty *d, uint64_t *dirty)
{
	uint64_t fresh = xen->pages_a_peek;

	(void)d;
	xen->peeks++;
	if (xen->signal && xen->peeks == xen->signal_at)
		raise((int)xen->signal);
	if (fresh > xen->most - xen->bitmap)
		fresh = xen->most - xen->bitmap;
	xen->bitmap += fresh;
	xen->count += fresh;
	/* A stock migration begins: off and on, the bitmap anew, and the count goes on. */
	if (xen->taken_at && xen->peeks == xen->taken_at)
		xen->bitmap = 0;
	*dirty = xen->count;
	return xen->fail_peek;
}

int xcbatch_dirty_stop(struct xcbatch_dirty *d)
{
	assert_ptr_equal(d, xen);
	xen->on--;
	xen->offs++;
	trackers--;
	return 0;
}

int os_xenctrl_version(unsigned *version);
unsigned os_xenctrl_interface(void);
int os_xenctrl_version(unsigned *version)
{
	*version = 4 << 16 | 17;
	return 0;
}

unsigned os_xenctrl_interface(void)
{
	return 21;
}

/* ---- the command, run here ------------------------------------------------------- */

static char lock_file[] = "/tmp/ratelockXXXXXX";

static int setup(void **unused)
{
	(void)unused;
	memset(xen, 0, sizeof(*xen));
	xen->pages_a_peek = 30;
	xen->most = 200;
	handles = trackers = 0;
	unsetenv("XENFERRY_WHEN_STUCK");
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	assert_int_equal(handles, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);	/* no guard is left */
	return 0;
}

#define RATE(...) RUN_INSIDE(cmd_dirty_rate, "dirty-rate", __VA_ARGS__)

/* Nothing on stdout; one line, one sentence on stderr, beginning with the command. */
static void assert_says(const char *text)
{
	if (!strstr(err_text, text))
		fail_msg("\"%s\" is not in: %s", text, err_text);
	assert_string_equal(out_text, "");
	assert_int_equal(strncmp(err_text, "xenferry dirty-rate: ", 21), 0);
	assert_ptr_equal(strchr(err_text, '\n'), err_text + strlen(err_text) - 1);
}

static void assert_prints(const char *text)
{
	if (!strstr(out_text, text))
		fail_msg("\"%s\" is not in: %s", text, out_text);
}

/* ---- misuse and help ----------------------------------------------------------------- */

static void misuse(void **unused)
{
	static const char *const bad[] = { "", "0", "-1", "x", "1x", "1.5", " 1", "99999999999999999999" };

	(void)unused;
	assert_int_equal(RATE("--help"), XF_EXIT_OK);
	assert_prints("usage: xenferry dirty-rate");
	assert_int_equal(run_inside(cmd_dirty_rate, 1, (const char *const[]) { "dirty-rate", NULL }), XF_EXIT_USAGE);
	assert_says("found 0 domains, expected one");
	assert_int_equal(RATE("a", "b"), XF_EXIT_USAGE);
	assert_says("found 2 domains, expected one");
	assert_int_equal(RATE("-x", "b"), XF_EXIT_USAGE);
	assert_says("-x");
	assert_int_equal(RATE("b", "--seconds"), XF_EXIT_USAGE);
	assert_says("without a value");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(RATE("--seconds", bad[i], "5"), XF_EXIT_USAGE);
		assert_says("for --seconds, expected a whole number from 1 to 600");
		assert_int_equal(RATE("--bandwidth", bad[i], "5"), XF_EXIT_USAGE);
		assert_says("for --bandwidth, expected a whole number from 1 to 10000000");
	}
	assert_int_equal(RATE("-s", "601", "5"), XF_EXIT_USAGE);
	assert_int_equal(xen->peeks, 0);
}

/* ---- what it says ---------------------------------------------------------------------- */

static void tells_people(void **unused)
{
	(void)unused;
	assert_int_equal(RATE("-s", "1", "web"), XF_EXIT_OK);
	assert_string_equal(err_text, "");
	assert_prints("Watched \"web\" (number 5, 4000 pages, 15.6 MiB) for 1.");
	assert_prints("working set         200 pages");
	assert_prints("        100        ");
	assert_prints("       1000        ");
	assert_prints("      10000        3");
	assert_prints("the pause is short enough");
	assert_int_equal(xen->on, 0);
	assert_int_equal(xen->offs, 1);
	assert_int_equal(trackers, 0);
	xen->pages_a_peek = 0;
	assert_int_equal(RATE("-s", "1", "-b", "100", "web"), XF_EXIT_OK);
	assert_prints("It wrote nothing at all");
	assert_null(strstr(out_text, "\n      10000 "));
}

static int64_t number_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_get_int64(v);
}

/* A link of 1 Mbit/s, and a guest that is busy all the time with pages that take longer than 300 ms. */
static void tells_machines(void **unused)
{
	struct json_object *all, *list, *f, *v;

	(void)unused;
	xen->most = 300;
	xen->pages_a_peek = 300;
	assert_int_equal(RATE("-s", "1", "-b", "1", "-j", "web"), XF_EXIT_OK);
	all = json_tokener_parse(out_text);
	assert_non_null(all);
	assert_int_equal(number_of(all, "domid"), DOMID);
	assert_int_equal(number_of(all, "memory_pages"), FRAMES - 96);
	assert_int_equal(number_of(all, "working_set_pages"), 300);
	assert_true(number_of(all, "dirty_pages_s") >= 250 && number_of(all, "dirty_pages_s") <= 300);
	assert_true(json_object_object_get_ex(all, "samples", &list));
	assert_true(json_object_array_length(list) >= 2);
	assert_true(json_object_object_get_ex(all, "forecasts", &list));
	assert_int_equal(json_object_array_length(list), 1);
	f = json_object_array_get_idx(list, 0);
	assert_int_equal(number_of(f, "mbit_s"), 1);
	assert_int_equal(number_of(f, "rounds"), 4);
	assert_int_equal(number_of(f, "pages"), FRAMES - 96 + 3 * 300);
	assert_int_equal(number_of(f, "last_pages"), 300);
	assert_true(json_object_object_get_ex(f, "stopped_for", &v));
	assert_string_equal(json_object_get_string(v), "stuck");
	assert_int_equal(number_of(f, "pause_ms"), 100 + 300 * 4104 / 125);
	json_object_put(all);
}

/* The limits that a migration from here would have. */
static void knows_the_limits(void **unused)
{
	struct json_object *all, *list, *f, *v;

	(void)unused;
	xen->most = xen->pages_a_peek = 300;
	setenv("XENFERRY_WHEN_STUCK", "abort", 1);
	assert_int_equal(RATE("-s", "1", "-b", "1", "web"), XF_EXIT_OK);
	assert_prints("gives up");
	assert_int_equal(RATE("-s", "1", "-b", "1", "-j", "web"), XF_EXIT_OK);
	all = json_tokener_parse(out_text);
	assert_true(json_object_object_get_ex(all, "forecasts", &list));
	f = json_object_array_get_idx(list, 0);
	assert_true(json_object_object_get_ex(f, "gives_up", &v) && json_object_get_boolean(v));
	assert_true(json_object_object_get_ex(f, "pause_ms", &v) && !v);
	json_object_put(all);
	setenv("XENFERRY_WHEN_STUCK", "perhaps", 1);
	assert_int_equal(RATE("-s", "1", "-b", "1", "web"), XF_EXIT_OK);
	assert_non_null(strstr(err_text, "says \"perhaps\""));
}

/* ---- what it refuses ------------------------------------------------------------------- */

static void refuses(void **unused)
{
	(void)unused;
	assert_int_equal(RATE("nobody"), 4);
	assert_says("Found no domain \"nobody\"");
	assert_int_equal(RATE("nowhere"), 3);
	assert_says("/dev/xen/privcmd");
	assert_int_equal(RATE("Domain-0"), 4);
	assert_says("Dom0 itself can't");
	xen->gone = true;
	assert_int_equal(RATE("web"), 4);
	assert_says("Found no domain \"web\"");
	xen->gone = false;
	xen->shut_down = true;
	assert_int_equal(RATE("web"), 4);
	assert_says("shut down (reason 3), expected a domain that runs");
	xen->shut_down = false;
	xen->pv = true;
	xen->fail_start = -EOPNOTSUPP;
	assert_int_equal(RATE("web"), 3);
	assert_says("Found \"web\" to be a PV guest");
	assert_int_equal(xen->offs, 0);
}

/* It is being migrated by a stock helper: left exactly as it was. */
static void leaves_others_log_dirty(void **unused)
{
	struct guard ours;

	(void)unused;
	xen->on = 1;
	assert_int_equal(RATE("web"), 5);
	assert_says("switched on by somebody else");
	assert_int_equal(xen->on, 1);
	assert_int_equal(xen->offs, 0);
	/* By a migration of ours, of which the lock tells. */
	xen->on = 0;
	assert_int_equal(guard_start(&ours, lock_file, DOMID, 0, NULL, NULL), 0);
	assert_int_equal(RATE("web"), 5);
	assert_says("Found a migration by xenferry, or another dirty-rate, of \"web\" under way");
	guard_end(&ours);
	assert_int_equal(xen->offs, 0);
}

static void leaves_it_to_who_took_it_over(void **unused)
{
	(void)unused;
	xen->taken_at = 3;
	assert_int_equal(RATE("-s", "1", "web"), 5);
	assert_says("took log-dirty of \"web\" over");
	assert_int_equal(xen->offs, 0);
	assert_int_equal(xen->on, 1);
}

static void what_fails(void **unused)
{
	(void)unused;
	xen->fail_open = EACCES;
	assert_int_equal(RATE("web"), 3);
	assert_says("as root");
	xen->fail_open = 0;
	xen->fail_info = EPERM;
	assert_int_equal(RATE("web"), 1);
	assert_says("Watching \"web\" failed.");
	xen->fail_info = 0;
	xen->fail_collect = -EIO;
	assert_int_equal(RATE("web"), 1);
	assert_says("Input/output error");
	assert_int_equal(xen->on, 0);
	xen->fail_collect = 0;
	xen->fail_peek = -ESRCH;
	assert_int_equal(RATE("web"), 4);
	assert_says("Found no domain");
	assert_int_equal(xen->on, 0);
}

/* ---- stopped and killed ------------------------------------------------------------------ */

static void stopped(void **unused)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	(void)unused;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		setup(NULL);
		xen->signal = (unsigned)signals[i];
		xen->signal_at = 2;
		assert_int_equal(RATE("-s", "60", "web"), 130);
		assert_says("was stopped as asked; log-dirty is off again");
		assert_int_equal(xen->on, 0);
		assert_int_equal(xen->offs, 1);
	}
}

/* In a process of its own, since it won't survive. */
static void killed_with(bool taken)
{
	int status;
	pid_t pid;

	setup(NULL);
	xen->signal = SIGKILL;
	xen->signal_at = 3;
	xen->taken_at = taken ? 2 : 0;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		RATE("-s", "60", "web");
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void killed(void **unused)
{
	struct guard next;

	(void)unused;
	killed_with(false);
	/* The guard holds the lock until it has undone it. */
	assert_int_equal(guard_start(&next, lock_file, DOMID, 20, NULL, NULL), 0);
	guard_end(&next);
	assert_int_equal(xen->on, 0);
	assert_int_equal(xen->offs, 1);
	killed_with(true);
	assert_int_equal(guard_start(&next, lock_file, DOMID, 20, NULL, NULL), 0);
	guard_end(&next);
	assert_int_equal(xen->offs, 0);
	assert_int_equal(xen->on, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(misuse, setup, teardown),
		cmocka_unit_test_setup_teardown(tells_people, setup, teardown),
		cmocka_unit_test_setup_teardown(tells_machines, setup, teardown),
		cmocka_unit_test_setup_teardown(knows_the_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(leaves_others_log_dirty, setup, teardown),
		cmocka_unit_test_setup_teardown(leaves_it_to_who_took_it_over, setup, teardown),
		cmocka_unit_test_setup_teardown(what_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(killed, setup, teardown),
	};
	int fd = mkstemp(lock_file), failed;

	xen = mmap(NULL, sizeof(*xen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || xen == MAP_FAILED)
		return 1;
	close(fd);
	setenv("XENFERRY_LOCK", lock_file, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(lock_file);
	return failed;
}
