// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-inject DOMID DOMID2 [PATTERN]: makes the test build of the module fail at the
 * first, second, third, ... allocation or hypercall of an operation until the
 * operation passes no more of them, and checks each time that the errno is one
 * of those it may be, that every page shows what it is said to show or nothing,
 * and that the area can be used and given back afterwards. Both guests are
 * paused and have 128 MiB; the memory of the first is written over. PATTERN
 * selects operations ("prepare" must be among them).
 */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xen/memory.h>

#include <xen/xenferry_privcmd.h>

#define AT "/sys/module/xen_privcmd/parameters/inject_at"
#define SEEN "/sys/module/xen_privcmd/parameters/inject_seen"
/* Over three page-table pages. */
#define PAGES 1100
#define SMALL 16
#define HOLE 0xfffff

static uint64_t before[PAGES], after[PAGES];
static int errors[PAGES];
static domid_t second;
static int fd;
static char *where;	/* of the area, at the same offset in a page-table page each time */
static char *elsewhere;

static void arm(unsigned int k)
{
	char text[16];
	int len = sprintf(text, "%u", k), at = open(AT, O_WRONLY);

	need(at >= 0 && write(at, text, len) == len, "write " AT);
	close(at);
}

static unsigned int seen(void)
{
	char text[16] = "";
	int at = open(SEEN, O_RDONLY);

	need(at >= 0 && read(at, text, sizeof(text) - 1) > 0, "read " SEEN);
	close(at);
	return atoi(text);
}

/* What a failed call may say. The hypervisor's refusals are EINVAL here. */
static void check_errno(long rc)
{
	check(!rc || errno == ENOMEM || errno == EINVAL, "failed with %s",
	      strerrorname_np(errno));
}

static bool is_hole(const void *page)
{
	uint64_t value;

	return peek(page, &value) == SIGBUS;
}

/*
 * After a call that reports page by page: where no error is reported the page
 * shows the frame, where one is, nothing.
 */
static void check_reported(const uint64_t *frames, unsigned long n)
{
	unsigned long i, bad = 0, first = 0;

	for (i = 0; i < n; i++) {
		const char *page = where + i * PAGE;

		if (errors[i] ? is_hole(page) : pages_show(page, &frames[i], 1))
			continue;
		if (!bad++)
			first = i;
	}
	check(!bad, "%lu pages are not as reported, the first is %lu, error %d",
	      bad, first, errors[first]);
}

/* After a call that failed as a whole: a page shows one of the two, or nothing. */
static void check_either(const uint64_t *one, const uint64_t *other, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		const char *page = where + i * PAGE;

		if (!(one && pages_show(page, &one[i], 1)) &&
		    !(other && pages_show(page, &other[i], 1)) && !is_hole(page)) {
			check(false, "page %lu shows something else", i);
			return;
		}
	}
}

static unsigned long pages_of(const uint64_t *frames, const char *base, unsigned long n)
{
	unsigned long i, shown = 0;

	for (i = 0; i < n; i++)
		shown += pages_show(base + i * PAGE, &frames[i], 1);
	return shown;
}

static int replace(const uint64_t *frames, unsigned int n, domid_t domid)
{
	struct xenferry_map map = {
		.addr = (unsigned long)where, .frames = (unsigned long)frames,
		.errors = (unsigned long)errors, .num = n, .domid = domid,
	};

	return ioctl(fd, IOCTL_XENFERRY_MAP, &map);
}

static int clear(unsigned int n)
{
	struct xenferry_clear cmd = { .addr = (unsigned long)where, .num = n };

	return ioctl(fd, IOCTL_XENFERRY_CLEAR, &cmd);
}

static void reserve(unsigned long n)
{
	memset(errors, 0, sizeof(errors));
	area_at(fd, where, n, PROT_READ);
}

static void reserve_and_map(unsigned long n)
{
	reserve(n);
	need(!batch(fd, where, n, guest, before, errors), "map frames");
}

/* The area goes, and can be made and mapped anew. */
static void give_back(unsigned long n)
{
	uint64_t value;

	check(!munmap(where, n * PAGE), "munmap says %s", strerrorname_np(errno));
	check(peek(where, &value) == SIGSEGV, "something is there after munmap");
	reserve(n);
	check(!batch(fd, where, n, guest, before, errors) && pages_show(where, before, n),
	      "the place can't be mapped again");
	munmap(where, n * PAGE);
}

/* An operation: what is before it, the part that fails, and the check of it. */
struct operation {
	const char *name;
	void (*prepare)(void);
	long (*act)(void);
	void (*verify)(long rc);
	bool pv_only;
};

static long do_open(void)
{
	int f = open("/dev/xen/privcmd", O_RDWR);

	if (f >= 0)
		close(f);
	return f < 0 ? -1 : 0;
}

static void nothing(void) { }

static void open_done(long rc)
{
	check_errno(rc);
}

static void reserve_many(void) { reserve(PAGES); }
static void map_many(void) { reserve_and_map(PAGES); }

static long do_map(void)
{
	return batch(fd, where, PAGES, guest, before, errors);
}

static void map_done(long rc)
{
	check_errno(rc);
	if (rc)
		check_either(before, NULL, PAGES);
	else
		check_reported(before, PAGES);
	give_back(PAGES);
}

static uint64_t marked[PAGES];

static long do_map_v1(void)
{
	memcpy(marked, before, sizeof(marked));
	return batch_v1(fd, where, PAGES, guest, marked);
}

static void map_v1_done(long rc)
{
	unsigned long i;

	check_errno(rc);
	for (i = 0; i < PAGES; i++)
		errors[i] = marked[i] == before[i] ? 0 : -EINVAL;
	if (rc)
		check_either(before, NULL, PAGES);
	else
		check_reported(before, PAGES);
	give_back(PAGES);
}

static long do_runs(void)
{
	struct privcmd_mmap_entry run[2] = {
		{ (unsigned long)where, 0x100, 8 },
		{ (unsigned long)where + 8 * PAGE, 0x200, 8 },
	};

	return runs(fd, 2, guest, run);
}

/* The frames carry no stamp: what matters is that the area can be used on. */
static void runs_done(long rc)
{
	check_errno(rc);
	munmap(where, SMALL * PAGE);
	reserve_and_map(SMALL);
	give_back(SMALL);
}

static void reserve_few(void) { reserve(SMALL); }

/* Page 3 is left for the second domain. */
static void map_with_hole(void)
{
	uint64_t frames[SMALL];

	memcpy(frames, before, sizeof(frames));
	frames[3] = HOLE;
	reserve(SMALL);
	need(!batch(fd, where, SMALL, guest, frames, errors), "map frames");
	memset(errors, 0, sizeof(errors));
}

static long do_map_second(void)
{
	uint64_t frame = 0x1000;

	return batch(fd, where + 3 * PAGE, 1, second, &frame, errors);
}

static void map_second_done(long rc)
{
	uint64_t value;

	bool failed = rc || errors[0];

	check_errno(rc);
	/*
	 * Where it failed the page is as the refused frame left it: empty, or in
	 * an auto-translated Dom0, as with stock, a page with nothing behind it.
	 */
	if (!failed || !dom0_is_pvh)
		check(peek(where + 3 * PAGE, &value) == (failed ? SIGBUS : 0),
		      "the second domain's page is not as reported (%d)", errors[0]);
	check(pages_of(before, where, SMALL) == SMALL - 1, "the first domain's pages are gone");
	munmap(where, SMALL * PAGE);
	reserve_and_map(SMALL);
	give_back(SMALL);
}

static long do_replace(void)
{
	return replace(after, PAGES, guest);
}

static void replace_done(long rc)
{
	check_errno(rc);
	if (rc)
		check_either(before, after, PAGES);
	else
		check_reported(after, PAGES);
	check(!replace(before, PAGES, guest) && pages_show(where, before, PAGES),
	      "the frames can't be replaced again");
	give_back(PAGES);
}

/* Frames that there are none of, so that slots must be emptied again. */
static uint64_t with_holes[PAGES];

static long do_replace_holes(void)
{
	memcpy(with_holes, after, sizeof(with_holes));
	with_holes[0] = with_holes[7] = with_holes[600] = with_holes[PAGES - 1] = HOLE;
	return replace(with_holes, PAGES, guest);
}

static void replace_holes_done(long rc)
{
	check_errno(rc);
	if (rc)
		check_either(before, with_holes, PAGES);
	else
		check_reported(with_holes, PAGES);
	give_back(PAGES);
}

static long do_clear(void)
{
	return clear(PAGES);
}

static void clear_done(long rc)
{
	unsigned long i;

	check_errno(rc);
	for (i = 0; i < PAGES; i++)
		if (!is_hole(where + i * PAGE))
			break;
	if (rc)
		check_either(before, NULL, PAGES);
	else
		check(i == PAGES, "page %lu is still mapped after clear", i);
	check(!replace(after, PAGES, guest) && pages_show(where, after, PAGES),
	      "the window can't be used after clear");
	give_back(PAGES);
}

static long do_munmap(void)
{
	return munmap(where, PAGES * PAGE);
}

static void munmap_done(long rc)
{
	uint64_t value;

	check(!rc, "munmap says %s", strerrorname_np(errno));
	check(peek(where, &value) == SIGSEGV, "something is there after munmap");
	reserve_and_map(PAGES);
	give_back(PAGES);
}

/* A new mapping over the old one, which is another way of unmapping. */
static long do_map_over(void)
{
	return area_at(fd, where, PAGES, PROT_READ) == where ? 0 : -1;
}

static void map_over_done(long rc)
{
	check(!rc && is_hole(where), "the new mapping is not empty");
	check(!batch(fd, where, PAGES, guest, before, errors) && pages_show(where, before, PAGES),
	      "the new mapping can't be used");
	give_back(PAGES);
}

static long do_move(void)
{
	void *p = mremap(where, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);

	return p == MAP_FAILED ? -1 : 0;
}

/* At the new place or still at the old one; one frame may be lost, of which the hypervisor said no. */
static void move_done(long rc)
{
	const char *at = rc ? where : elsewhere;
	unsigned long shown = pages_of(before, at, PAGES);

	check_errno(rc);
	check(shown >= PAGES - 1, "only %lu pages are shown at the %s place", shown, rc ? "old" : "new");
	check(!munmap((void *)at, PAGES * PAGE), "munmap says %s", strerrorname_np(errno));
	reserve_and_map(PAGES);
	give_back(PAGES);
}

static long do_resource(void)
{
	struct privcmd_mmap_resource cmd = {
		.dom = guest, .type = XENMEM_resource_grant_table, .num = 1,
		.addr = (unsigned long)where,
	};

	return ioctl(fd, IOCTL_PRIVCMD_MMAP_RESOURCE, &cmd);
}

static void reserve_one(void) { reserve(1); }

static void resource_done(long rc)
{
	uint64_t value;

	check_errno(rc);
	check(peek(where, &value) == (rc ? SIGBUS : 0), "the page is not as reported (%ld)", rc);
	munmap(where, PAGE);
	reserve_one();
	check(!do_resource() && !peek(where, &value), "the resource can't be mapped again");
	munmap(where, PAGE);
}

static const struct operation operations[] = {
	{ "open", nothing, do_open, open_done, false },
	{ "map", reserve_many, do_map, map_done, false },
	{ "map-v1", reserve_many, do_map_v1, map_v1_done, false },
	{ "runs", reserve_few, do_runs, runs_done, true },
	{ "map-second", map_with_hole, do_map_second, map_second_done, false },
	{ "window", reserve_many, do_replace, replace_done, false },
	{ "replace", map_many, do_replace, replace_done, false },
	{ "replace-holes", map_many, do_replace_holes, replace_holes_done, false },
	{ "clear", map_many, do_clear, clear_done, false },
	{ "munmap", map_many, do_munmap, munmap_done, false },
	{ "map-over", map_many, do_map_over, map_over_done, false },
	{ "move", map_many, do_move, move_done, true },
	{ "resource", reserve_one, do_resource, resource_done, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const struct operation *current_operation;

/* Walks its failures; at least one must have been met. */
static void walk(void)
{
	const struct operation *op = current_operation;
	unsigned int k, passed;
	long rc;

	for (k = 1;; k++) {
		int error;

		op->prepare();
		arm(k);
		rc = op->act();
		error = errno;
		passed = seen();
		arm(0);
		errno = error;
		op->verify(rc);
		if (passed < k)
			break;
	}
	say("%u places", k - 1);
	check(k > 1, "no place to fail was passed");
}

/* A child maps and ends, by itself or killed, while places fail. */
static void child_ends(unsigned int k, bool killed)
{
	int status;
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (!pid) {
		fd = privcmd_open();
		reserve(PAGES);
		arm(k);
		batch(fd, where, PAGES, guest, before, errors);
		if (killed)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	need(waitpid(pid, &status, 0) == pid, "wait for the child");
	check(killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL :
		       WIFEXITED(status) && !WEXITSTATUS(status),
	      "the child ended with status %#x", status);
}

static void ends(void)
{
	unsigned int k = 0, passed;

	do {
		k++;
		child_ends(k, k % 2);
		passed = seen();
	} while (passed >= k && k < 10000);
	arm(0);
	say("%u places", k - 1);
	check(k > 1, "no place to fail was passed");
}

#define WALK(op) static void walk_##op(void) { current_operation = &operations[op]; walk(); }
enum { OPEN, MAP, MAP_V1, RUNS, MAP_SECOND, WINDOW, REPLACE, REPLACE_HOLES, CLEAR, MUNMAP, MAP_OVER, MOVE, RESOURCE };
WALK(OPEN) WALK(MAP) WALK(MAP_V1) WALK(MAP_SECOND) WALK(WINDOW) WALK(REPLACE) WALK(REPLACE_HOLES)
WALK(CLEAR) WALK(MUNMAP) WALK(MAP_OVER) WALK(RESOURCE)

/* An auto-translated Dom0 has no runs, and its moves touch the hypervisor nowhere. */
static void walk_pv(unsigned int op)
{
	current_operation = &operations[op];
	if (!dom0_is_pvh)
		walk();
}
static void walk_RUNS(void) { walk_pv(RUNS); }
static void walk_MOVE(void) { walk_pv(MOVE); }

static void prepare(void)
{
	unsigned long i;

	for (i = 0; i < PAGES; i++) {
		before[i] = stamped[i];
		after[i] = stamped[i + 2000];
	}
	fd = privcmd_open();
	where = room(8192) + 300 * PAGE;
	elsewhere = where + 4096 * PAGE;
}

static const struct test_case cases[] = {
	CASE("prepare", prepare),
	CASE("open", walk_OPEN),
	CASE("map", walk_MAP),
	CASE("map-v1", walk_MAP_V1),
	CASE("runs", walk_RUNS),
	CASE("map-second", walk_MAP_SECOND),
	CASE("window", walk_WINDOW),
	CASE("replace", walk_REPLACE),
	CASE("replace-holes", walk_REPLACE_HOLES),
	CASE("clear", walk_CLEAR),
	CASE("munmap", walk_MUNMAP),
	CASE("map-over", walk_MAP_OVER),
	CASE("move", walk_MOVE),
	CASE("resource", walk_RESOURCE),
	CASE("ends", ends),
	END_OF_CASES
};

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: %s DOMID DOMID2 [PATTERN]\n", argv[0]);
		return 2;
	}
	second = atoi(argv[2]);
	argv[2] = argv[3];
	return run_cases(argc - 1, argv, cases);
}
