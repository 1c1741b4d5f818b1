/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xcbatch-check window DOMID   windows onto a paused domain, on the driver that is loaded
 * xcbatch-check dirty DOMID    log-dirty of a domain that runs and writes
 * xcbatch-check nodirty DOMID  log-dirty of a PV guest, which this Xen can't do
 *
 * What the unit tests assume of kernel and hypervisor, tried on real ones: each
 * slot of a window is compared with another mapping of the frame it should
 * hold, or must fault. Prints one line, exit status 0 if all was right.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xenforeignmemory.h>

#include "xcbatch.h"

#define SLOTS	48
#define POOL	256		/* frames to choose from */
#define ROUNDS	400
#define BAD_GFN	0xffffffffull	/* no guest of the lab has it */

static xenforeignmemory_handle *fmem;
static struct xcbatch *xb;
static struct xcbatch_window *window;
static uint64_t pool[POOL];
static const char *pool_memory;		/* pool[i] is at page i of it */
static int expected[SLOTS];		/* index into pool, -1: nothing */
static sigjmp_buf fault;

#define REQUIRE(condition, ...) do { \
	if (!(condition)) { \
		fprintf(stderr, "xcbatch-check: line %d: %s: ", __LINE__, #condition); \
		fprintf(stderr, " " __VA_ARGS__); \
		fprintf(stderr, "\n"); \
		exit(1); \
	} } while (0)

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault, 1);
}

static int faults(const volatile char *at)
{
	if (sigsetjmp(fault, 1))
		return 1;
	(void)*at;
	return 0;
}

static const char *slot(size_t i)
{
	return (const char *)xcbatch_window_addr(window) + i * XCBATCH_PAGE_SIZE;
}

/* Nothing else must be able to settle in the window: the kernel has every page of it mapped somehow. */
static void require_no_hole(void)
{
	unsigned long begin, end, at = (unsigned long)slot(0), last = (unsigned long)slot(SLOTS);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	REQUIRE(maps);
	while (at < last && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin <= at && end > at)
			at = end;
	fclose(maps);
	REQUIRE(at >= last, "a hole in the window at slot %lu", (at - (unsigned long)slot(0)) / 4096);
}

static void require_slots(const char *after)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (expected[i] < 0)
			REQUIRE(faults(slot(i)), "slot %zu holds something after %s", i, after);
		else
			REQUIRE(!faults(slot(i)) && !memcmp(slot(i), pool_memory + (size_t)expected[i] * 4096, 4096),
				"slot %zu has not the contents of gfn %#" PRIx64 " after %s", i, pool[expected[i]], after);
	}
	require_no_hole();
}

/* ---- frames that can be mapped ---------------------------------------------- */

static void fill_pool(uint32_t domid)
{
	static int errs[POOL];
	struct xcbatch_window *w;
	uint64_t gfns[64], base = 0;
	size_t found = 0;
	int rc;

	REQUIRE(xcbatch_window_create(xb, domid, 64, XCBATCH_READ, &w) == 0);
	for (; found < POOL; base += 64) {
		REQUIRE(base < 0x100000, "found only %zu frames", found);
		for (size_t i = 0; i < 64; i++)
			gfns[i] = base + i;
		rc = xcbatch_window_map(w, 0, gfns, 64, errs);
		REQUIRE(rc == 0 || rc == -ENXIO, "%d", rc);
		/* Take pages that can be told apart: their frame number is not all zero pages. */
		for (size_t i = 0; i < 64 && found < POOL; i++)
			if (!errs[i] && !xcbatch_page_is_zero((char *)xcbatch_window_addr(w) + i * 4096))
				pool[found++] = gfns[i];
	}
	xcbatch_window_destroy(w);
	pool_memory = xenforeignmemory_map(fmem, domid, PROT_READ, POOL, pool, errs);
	REQUIRE(pool_memory, "%d", errno);
	for (size_t i = 0; i < POOL; i++)
		REQUIRE(errs[i] == 0);
}

/* ---- windows ------------------------------------------------------------------- */

static void map_some(size_t first, size_t n, int with_bad)
{
	uint64_t gfns[SLOTS];
	int errs[SLOTS], rc, bad = 0;

	for (size_t i = 0; i < n; i++) {
		int take = with_bad && rand() % 5 == 0 ? -1 : rand() % POOL;

		expected[first + i] = take;
		gfns[i] = take < 0 ? BAD_GFN : pool[take];
		bad += take < 0;
	}
	rc = xcbatch_window_map(window, first, gfns, n, errs);
	REQUIRE(rc == (bad ? -ENXIO : 0), "returned %d with %d bad frames", rc, bad);
	for (size_t i = 0; i < n; i++)
		REQUIRE((errs[i] < 0) == (expected[first + i] < 0), "errs[%zu] is %d", i, errs[i]);
}

static void random_rounds(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		size_t first = (size_t)rand() % SLOTS, n = 1 + (size_t)rand() % (SLOTS - first);
		int what = rand() % 4;
		char text[80];

		snprintf(text, sizeof(text), "%s of slots %zu to %zu, round %d",
			 what == 0 ? "clear" : "map", first, first + n - 1, round);
		if (what == 0) {
			REQUIRE(xcbatch_window_clear(window, first, n) == 0, "%s", text);
			for (size_t i = 0; i < n; i++)
				expected[first + i] = -1;
		} else {
			map_some(first, n, what == 1);
		}
		require_slots(text);
	}
}

/* A child has no mapping, may give back what it inherited, and must not harm the parent. */
static void child(void)
{
	int status;
	pid_t pid;

	map_some(0, SLOTS, 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		int ok = faults(slot(0));

		xcbatch_window_destroy(window);
		xcbatch_close(xb);
		_exit(ok ? 0 : 1);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid && status == 0, "the child ended with %#x", status);
	require_slots("fork");
}

static void refusals(uint32_t domid)
{
	struct xcbatch_window *w;
	uint64_t gfn = pool[0];
	int err, rc;

	/* A domain that isn't there: each driver says so in its own way, none maps anything. */
	REQUIRE(xcbatch_window_create(xb, domid + 1000, 1, XCBATCH_READ, &w) == 0);
	rc = xcbatch_window_map(w, 0, &gfn, 1, &err);
	REQUIRE(rc < 0 && err < 0, "%d, %d", rc, err);
	REQUIRE(faults(xcbatch_window_addr(w)));
	xcbatch_window_destroy(w);
}

static int check_window(uint32_t domid)
{
	struct xcbatch_driver driver;

	srand(1);
	fill_pool(domid);
	REQUIRE(xcbatch_window_create(xb, domid, SLOTS, XCBATCH_READ, &window) == 0);
	for (size_t i = 0; i < SLOTS; i++)
		expected[i] = -1;
	require_slots("create");
	random_rounds();
	child();
	refusals(domid);
	xcbatch_window_destroy(window);
	xenforeignmemory_unmap(fmem, (void *)(uintptr_t)pool_memory, POOL);
	xcbatch_driver(xb, &driver);
	printf("window: %d rounds right, driver %s %s\n", ROUNDS, driver.batched ? "ours" : "stock", driver.version);
	return 0;
}

/* ---- log-dirty ------------------------------------------------------------------ */

#define DIRTY_FRAMES 0x10003	/* not whole words */

static int check_dirty(uint32_t domid)
{
	uint64_t *map = calloc(xcbatch_bitmap_words(DIRTY_FRAMES), sizeof(*map)), dirty[3], peeked;
	struct xcbatch_dirty *d, *other;

	REQUIRE(map);
	REQUIRE(xcbatch_dirty_start(domid + 1000, DIRTY_FRAMES, &d) == -ESRCH);
	REQUIRE(xcbatch_dirty_start(domid, DIRTY_FRAMES, &d) == 0);
	REQUIRE(xcbatch_dirty_start(domid, DIRTY_FRAMES, &other) == -EBUSY);
	for (int i = 0; i < 2; i++) {
		sleep(2);
		REQUIRE(xcbatch_dirty_peek(d, &peeked) == 0 && peeked > 0);
		REQUIRE(xcbatch_dirty_collect(d, map, &dirty[i]) == 0);
		REQUIRE(dirty[i] > 0 && dirty[i] == xcbatch_bitmap_count(map, DIRTY_FRAMES), "%" PRIu64, dirty[i]);
	}
	REQUIRE(xcbatch_dirty_collect_last(d, map, &dirty[2]) == 0);
	/* What a killed migration leaves behind can be taken over. */
	REQUIRE(xcbatch_dirty_takeover(domid, DIRTY_FRAMES, &other) == 0);
	REQUIRE(xcbatch_dirty_stop(other) == 0);
	xcbatch_dirty_stop(d);
	free(map);
	printf("dirty: %" PRIu64 ", %" PRIu64 ", %" PRIu64 " frames\n", dirty[0], dirty[1], dirty[2]);
	return 0;
}

static int check_nodirty(uint32_t domid)
{
	struct xcbatch_dirty *d;
	char text[300];
	int rc = xcbatch_dirty_start(domid, DIRTY_FRAMES, &d);

	REQUIRE(rc == -EOPNOTSUPP, "%d", rc);
	xcbatch_explain(rc, text, sizeof(text));
	printf("nodirty: %s\n", text);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t domid;
	int status = 2;

	if (argc != 3)
		return 2;
	domid = (uint32_t)strtoul(argv[2], NULL, 10);
	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	fmem = xenforeignmemory_open(NULL, 0);
	REQUIRE(fmem);
	REQUIRE(xcbatch_open(&xb) == 0);
	if (!strcmp(argv[1], "window"))
		status = check_window(domid);
	else if (!strcmp(argv[1], "dirty"))
		status = check_dirty(domid);
	else if (!strcmp(argv[1], "nodirty"))
		status = check_nodirty(domid);
	xcbatch_close(xb);
	xenforeignmemory_close(fmem);
	return status;
}
