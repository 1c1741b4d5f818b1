/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xc_domain_save and xc_domain_restore as libxl's callbacks see them, on simulated guests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enginejob.h"
#include "guest/xen.h"
#include "helper/ours.h"
#include "helper/pipe.h"
#include "streamgen.h"

#include <xen/hvm/params.h>

#define FRAMES 1500

/* ---- Xen, as far as the helper asks it ---------------------------------- */

static struct {
	bool there, hvm;
	unsigned width;			/* of a PV guest's words, in bytes */
	struct simguest *guest;		/* NULL: it can't be opened */
	enum guest_access access;
} xen;

int __wrap_xc_domain_getinfo(xc_interface *xch, uint32_t first, unsigned max, xc_dominfo_t *info);

/* The next domain's where there is none of that number. */
int __wrap_xc_domain_getinfo(xc_interface *xch, uint32_t first, unsigned max, xc_dominfo_t *info)
{
	(void)xch, (void)max;
	*info = (xc_dominfo_t) { .domid = xen.there ? first : first + 1, .hvm = xen.hvm };
	return 1;
}

int __wrap_xc_domain_get_guest_width(xc_interface *xch, uint32_t domid, unsigned *width);

int __wrap_xc_domain_get_guest_width(xc_interface *xch, uint32_t domid, unsigned *width)
{
	(void)xch;
	assert_int_equal(domid, 7);
	*width = xen.width;
	return xen.width ? 0 : -1;
}

int guest_xen_open(xc_interface *xch, uint32_t domid, enum guest_access access, struct guest **out)
{
	(void)xch;
	if (!xen.guest)
		return -ENOENT;
	assert_int_equal(domid, 7);
	xen.access = access;
	*out = &xen.guest->base;
	return 0;
}

/* ---- libxl's side ------------------------------------------------------- */

static struct {
	int suspend, policy, qemu, static_data;	/* what each answers */
	unsigned suspends, asked, switched, missing;
	struct precopy_stats stats;
} libxl;

static int suspend(void *data)
{
	assert_ptr_equal(data, &libxl);
	libxl.suspends++;
	if (libxl.suspend)
		xen.guest->info.suspended = true;
	return libxl.suspend;
}

static int policy(struct precopy_stats stats, void *data)
{
	assert_ptr_equal(data, &libxl);
	libxl.asked++;
	libxl.stats = stats;
	return libxl.policy;
}

static int qemu(uint32_t domid, unsigned enable, void *data)
{
	assert_ptr_equal(data, &libxl);
	assert_int_equal(domid, 7);
	assert_int_equal(enable, libxl.switched % 2 == 0);
	libxl.switched++;
	return libxl.qemu;
}

static int static_data_done(unsigned missing, void *data)
{
	assert_ptr_equal(data, &libxl);
	libxl.missing = missing;
	return libxl.static_data;
}

static struct save_callbacks save_callbacks = {
	.suspend = suspend, .switch_qemu_logdirty = qemu, .data = &libxl,
};
static struct restore_callbacks restore_callbacks = {
	.static_data_done = static_data_done, .data = &libxl,
};

static struct job job;
static struct config config, restore_config;
static struct simguest from, to;

static int setup(void **state)
{
	(void)state;
	sim_init(&from, FRAMES, false);
	sim_fill(&from, 0, 1400);
	from.params[HVM_PARAM_STORE_PFN] = 1399;
	from.params[HVM_PARAM_CONSOLE_PFN] = 1398;
	sim_init(&to, FRAMES, true);
	memset(&libxl, 0, sizeof(libxl));
	libxl.suspend = 1;
	config = (struct config) { .limits = policy_default_limits };
	restore_config = (struct config) { .single_pages = false };
	save_callbacks.precopy_policy = NULL;
	save_callbacks.switch_qemu_logdirty = qemu;
	xen.there = xen.hvm = true;
	xen.guest = &from;
	job_init(&job, &from);
	signal(SIGPIPE, SIG_DFL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_free(&from);
	sim_free(&to);
	return 0;
}

static int save_to(int fd, uint32_t flags, const char *stats)
{
	const struct save_call call = {
		.io_fd = fd, .dom = 7, .flags = flags, .callbacks = &save_callbacks, .recv_fd = -1,
	};

	errno = 0;
	strcpy(config.stats, stats);
	return ours_save(&call, &config, &job.report);
}

static int restore_from(int fd, unsigned long *store, unsigned long *console)
{
	const struct restore_call call = {
		.io_fd = fd, .dom = 7, .store_evtchn = 11, .store_gfn = store, .store_domid = 1,
		.console_evtchn = 12, .console_gfn = console, .console_domid = 2,
		.callbacks = &restore_callbacks, .send_back_fd = -1,
	};

	xen.guest = &to;
	errno = 0;
	return ours_restore(&call, &restore_config, &job.report);
}

/* ---- what is ours ------------------------------------------------------- */

static void what_is_ours(void **state)
{
	struct save_call save = { .dom = 7, .callbacks = &save_callbacks };
	struct restore_call restore = { .dom = 7, .callbacks = &restore_callbacks };

	(void)state;
	assert_true(ours_can_save(&save));
	assert_true(ours_can_restore(&restore));
	xen.hvm = false;
	for (unsigned width = 0; width <= 8; width += 4) {
		xen.width = width;
		assert_int_equal(ours_can_save(&save), width == 8);
		assert_int_equal(ours_can_restore(&restore), width == 8);
	}
	xen.hvm = true;
	xen.there = false;
	assert_false(ours_can_save(&save));
	assert_false(ours_can_restore(&restore));
	xen.there = true;
	save.stream_type = restore.stream_type = XC_STREAM_REMUS;
	assert_false(ours_can_save(&save));
	assert_false(ours_can_restore(&restore));
}

static void there_and_back(void **state)
{
	unsigned long store = 0, console = 0;
	struct job arrived;
	FILE *f = tmpfile();
	int fd = fileno(f);

	(void)state;
	assert_int_equal(save_to(fd, XCFLAGS_LIVE, ""), 0);
	assert_int_equal(xen.access, GUEST_READ);
	assert_int_equal(libxl.suspends, 1);
	assert_int_equal(libxl.switched, 2);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(restore_from(fd, &store, &console), 0);
	assert_int_equal(xen.access, GUEST_WRITE);
	assert_int_equal(store, 1399);
	assert_int_equal(console, 1398);
	job_init(&arrived, &to);
	arrived.result = (struct restore_result) { .store_gfn = store, .console_gfn = console };
	expect_same_guest(&from, &arrived);
	assert_true(job.progress > 3);
	fclose(f);
}

/* Not a byte more than the stream has. */
static void the_rest_is_left(void **state)
{
	unsigned long store, console;
	FILE *f = tmpfile();
	int fd = fileno(f);
	off_t end;

	(void)state;
	save_callbacks.switch_qemu_logdirty = NULL;
	assert_int_equal(save_to(fd, 0, ""), 0);
	end = lseek(fd, 0, SEEK_CUR);
	assert_int_equal(write(fd, "libxl's", 7), 7);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(restore_from(fd, &store, &console), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), end);
	fclose(f);
}

/* ---- what goes wrong ---------------------------------------------------- */

static void expect_failure(int rc, int error, const char *said)
{
	int found = errno;

	assert_int_equal(rc, -1);
	assert_int_equal(found, error);
	if (!job_said(&job, said))
		fail_msg("\"%s\" was not said, but: %s", said, job.said);
	assert_true(job_said(&job, "error: "));
}

static void suspend_answers_0(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	libxl.suspend = 0;
	expect_failure(save_to(fileno(f), XCFLAGS_LIVE, ""), EIO, "Suspending domain 7 failed");
	assert_int_equal(libxl.switched, 2);
	fclose(f);
}

static void device_model_says_no(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	libxl.qemu = -1;
	expect_failure(save_to(fileno(f), XCFLAGS_LIVE, ""), EIO, "device model of domain 7 refused");
	assert_int_equal(libxl.switched, 1);
	fclose(f);
}

static void policies(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	save_callbacks.precopy_policy = policy;
	libxl.policy = XGS_POLICY_ABORT;
	expect_failure(save_to(fileno(f), XCFLAGS_LIVE, ""), ECANCELED, "Giving up domain 7");
	assert_int_equal(libxl.suspends, 0);
	assert_int_equal(libxl.stats.dirty_count, FRAMES);

	libxl.policy = XGS_POLICY_STOP_AND_COPY;
	libxl.asked = 0;
	assert_int_equal(save_to(fileno(f), XCFLAGS_LIVE, ""), 0);
	assert_int_equal(libxl.asked, 1);
	assert_int_equal(libxl.suspends, 1);
	fclose(f);
}

/* How many bytes a save takes, with what is said of the other end. */
static long saved_bytes(const char *peer, enum config_elide elide)
{
	FILE *f = tmpfile();
	long size;

	if (peer)
		setenv("XENFERRY_PEER", peer, 1);
	config.elide_zero = elide;
	from.info.suspended = false;
	assert_int_equal(save_to(fileno(f), XCFLAGS_LIVE, ""), 0);
	size = lseek(fileno(f), 0, SEEK_CUR);
	unsetenv("XENFERRY_PEER");
	fclose(f);
	return size;
}

/* Pages of zeroes go without contents where somebody answers for it. */
static void zeroes(void **state)
{
	long whole = saved_bytes(NULL, ELIDE_AUTO), elided = saved_bytes(NULL, ELIDE_ALWAYS);

	(void)state;
	assert_true(elided < whole - 300 * 4096);
	assert_int_equal(saved_bytes("version=0.1.0 features=0x1", ELIDE_AUTO), elided);
	assert_int_equal(saved_bytes("version=9.9.9 features=0xff", ELIDE_AUTO), elided);
	assert_int_equal(saved_bytes("version=0.1.0 features=0x0", ELIDE_AUTO), whole);
	assert_int_equal(saved_bytes("xenferry", ELIDE_AUTO), whole);
	assert_int_equal(saved_bytes("version=0.1.0 features=0x1", ELIDE_NEVER), whole);
}

/* How many pieces of 2 MiB the guest of the stream gets. */
static unsigned pieces_from(int fd)
{
	unsigned long store, console;

	sim_free(&to);
	sim_init(&to, FRAMES, true);
	to.largest_piece = 9;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(restore_from(fd, &store, &console), 0);
	return to.pieces;
}

static void large_pages(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	assert_int_equal(save_to(fileno(f), XCFLAGS_LIVE, ""), 0);
	assert_true(pieces_from(fileno(f)) > 0);
	restore_config.single_pages = true;
	assert_int_equal(pieces_from(fileno(f)), 0);
	fclose(f);
}

static unsigned lanes_used(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GUEST_LANES; i++)
		n += from.lanes[i] != NULL;
	return n;
}

static void trackers(void **state)
{
	long logged = saved_bytes(NULL, ELIDE_NEVER);

	(void)state;
	assert_int_equal(lanes_used(), 0);
	config.tracker = TRACKER_CONTENT;
	config.content_threads = 3;
	saved_bytes(NULL, ELIDE_NEVER);
	/* On a busy machine one thread may have done it all before another began. */
	assert_in_range(lanes_used(), 1, 3);
	assert_true(job_said(&job, "by content, by 3 threads"));
	/* All of memory once more. */
	config.tracker = TRACKER_LOG_DIRTY;
	config.verify_content = true;
	assert_true(saved_bytes(NULL, ELIDE_NEVER) >= logged + 1400 * 4096);
}

/* What the configuration says arrives. */
static void configured(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	config.limits.max_time_s = 1e-9;
	config.limits.when_stuck = POLICY_GIVE_UP;
	config.limits.max_pause_ms = 1;
	from.run = sim_rewrite;
	expect_failure(save_to(fileno(f), XCFLAGS_LIVE, ""), ECANCELED, "limit that was set");
	fclose(f);
}

/* Both ends of a pipe make it larger; a file is left alone. */
static void larger_pipes(void **state)
{
	FILE *f = tmpfile();
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pipe_enlarge(fds[0]);
	assert_int_equal(fcntl(fds[1], F_GETPIPE_SZ), PIPE_BYTES);
	pipe_enlarge(fds[1]);
	assert_int_equal(fcntl(fds[0], F_GETPIPE_SZ), PIPE_BYTES);
	pipe_enlarge(fileno(f));
	pipe_enlarge(-1);
	close(fds[0]);
	close(fds[1]);
	fclose(f);
}

/* An error, not the death of the helper; and SIGPIPE is as it was. */
static void receiver_is_gone(void **state)
{
	struct sigaction now;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	expect_failure(save_to(fds[1], XCFLAGS_LIVE, ""), EPIPE, "Broken pipe");
	close(fds[1]);
	assert_int_equal(libxl.switched, 2);
	assert_int_equal(sigaction(SIGPIPE, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
}

static void no_way_to_the_guest(void **state)
{
	unsigned long store = 5, console = 6;
	const struct restore_call restore = { .dom = 7, .store_gfn = &store, .console_gfn = &console };

	(void)state;
	xen.guest = NULL;
	expect_failure(save_to(-1, XCFLAGS_LIVE, ""), ENOENT, "The memory of domain 7 can't be reached");
	errno = 0;
	expect_failure(ours_restore(&restore, &restore_config, &job.report), ENOENT, "/dev/xen/privcmd");
}

static void statistics_cannot_be_written(void **state)
{
	FILE *f = tmpfile();

	(void)state;
	assert_int_equal(save_to(fileno(f), 0, "/nowhere/at/all"), 0);
	assert_true(job_said(&job, "No statistics: /nowhere/at/all"));
	fclose(f);
}

static void restore_fails(void **state)
{
	unsigned long store = 5, console = 6;
	struct gen g = { 0 };
	uint64_t word = xf_page_word(1, XF_PAGE_NOTAB);
	FILE *f = tmpfile();

	(void)state;
	gen_hvm_before_pages(&g, 2);
	gen_pages(&g, &word, 1);
	assert_int_equal(write(fileno(f), g.data, g.size), g.size);
	rewind(f);
	libxl.static_data = -1;
	expect_failure(restore_from(fileno(f), &store, &console), EIO, "could not make up for static data");
	assert_int_equal(libxl.missing, XGR_SDD_MISSING_CPUID | XGR_SDD_MISSING_MSR);
	assert_int_equal(store, 5);
	assert_int_equal(console, 6);
	gen_free(&g);
	fclose(f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_ours),
		TEST(there_and_back),
		TEST(the_rest_is_left),
		TEST(suspend_answers_0),
		TEST(device_model_says_no),
		TEST(policies),
		TEST(configured),
		TEST(large_pages),
		TEST(trackers),
		TEST(zeroes),
		TEST(larger_pipes),
		TEST(receiver_is_gone),
		TEST(no_way_to_the_guest),
		TEST(statistics_cannot_be_written),
		TEST(restore_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
