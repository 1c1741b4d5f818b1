// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-window: does what include/xen/xenferry_privcmd.h says hold? Prints
 * a line for each thing that doesn't, and fails; figures for the rest.
 */
#include "conform.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xen/xenferry_privcmd.h>

#define BAD ((void *)8)
#define HOLE 0xfffff

static int errors[STAMPED];

static struct xenferry_query query(void)
{
	struct xenferry_query q = { 0 };

	need(!ioctl(privcmd_open(), IOCTL_XENFERRY_QUERY, &q), "query the module");
	return q;
}

static struct xenferry_counters counters(int fd)
{
	struct xenferry_counters c;

	need(!ioctl(fd, IOCTL_XENFERRY_COUNTERS, &c), "read the counters");
	return c;
}

static struct xenferry_map map_of(void *addr, unsigned int num, const uint64_t *frames)
{
	return (struct xenferry_map){
		.addr = (unsigned long)addr, .num = num, .domid = guest,
		.frames = (unsigned long)frames, .errors = (unsigned long)errors,
		.failed = 77,
	};
}

static int replace(int fd, void *addr, unsigned int num, const uint64_t *frames)
{
	struct xenferry_map map = map_of(addr, num, frames);

	if (ioctl(fd, IOCTL_XENFERRY_MAP, &map))
		return -errno;
	return map.failed;
}

/* Must succeed for every frame; says what came of it if not. */
static bool replaces(int fd, void *addr, unsigned int num, const uint64_t *frames)
{
	int rc = replace(fd, addr, num, frames);

	if (rc) {
		say("result %d", rc);
		tell_errors("errors", errors, num);
	}
	return !rc;
}

static int clear(int fd, void *addr, unsigned int num)
{
	struct xenferry_clear c = { .addr = (unsigned long)addr, .num = num };

	return ioctl(fd, IOCTL_XENFERRY_CLEAR, &c) ? -errno : 0;
}

static void query_says(void)
{
	struct xenferry_query q = { .reserved = 1 };
	int fd = privcmd_open();

	check(ioctl(fd, IOCTL_XENFERRY_QUERY, &q) == -1 && errno == EINVAL,
	      "a reserved field that isn't 0 is accepted");
	check(ioctl(fd, IOCTL_XENFERRY_QUERY, BAD) == -1 && errno == EFAULT, "bad pointer");
	check(ioctl(fd, IOCTL_XENFERRY_COUNTERS, BAD) == -1 && errno == EFAULT, "bad pointer");
	q = query();
	check(q.abi == XENFERRY_PRIVCMD_ABI, "abi is %u", q.abi);
	check(q.max_frames >= 1024, "max_frames is %u", q.max_frames);
	check(q.features & XENFERRY_FEATURE_REPLACE && q.features & XENFERRY_FEATURE_CLEAR,
	      "features are %#x", q.features);
	check(!!(q.features & XENFERRY_FEATURE_AUTO_XLATED) == dom0_is_pvh,
	      "features are %#x", q.features);
	check(q.version[0] && memchr(q.version, 0, sizeof(q.version)), "no version");
	say("version %s, features %#x, max_frames %u", q.version, q.features, q.max_frames);
	close(fd);
}

/* 1024 frames: stock map, replace, munmap; each costs a hypercall a page-table page. */
static void hypercalls(void)
{
	struct xenferry_counters a, b, c, d;
	int fd = privcmd_open();
	char *p = area_at(fd, room(2048) + 100 * PAGE, 1024, PROT_READ);

	a = counters(fd);
	check(!batch(fd, p, 1024, guest, stamped, errors), "map");
	b = counters(fd);
	check(replaces(fd, p, 1024, stamped + 2000), "replace");
	c = counters(fd);
	check(pages_show(p, stamped + 2000, 1024), "not the frames that were asked for");
	check(!munmap(p, 1024 * PAGE), "munmap");
	d = counters(fd);
	check(b.map_entries - a.map_entries == 1024, "entries");
	check(c.map_entries - b.map_entries == 1024, "entries");
	check(d.clear_entries - c.clear_entries >= 1024, "cleared");
	check(d.failed_entries == a.failed_entries, "failed");
	say("figure map_hypercalls_1024 %llu", b.map_hypercalls - a.map_hypercalls + b.flushes - a.flushes);
	say("figure replace_hypercalls_1024 %llu", c.map_hypercalls - b.map_hypercalls + c.flushes - b.flushes);
	say("figure munmap_hypercalls_1024 %llu", d.clear_hypercalls - c.clear_hypercalls + d.flushes - c.flushes);
	close(fd);
	if (dom0_is_pvh)
		return;
	check(b.map_hypercalls - a.map_hypercalls <= 3 && b.flushes == a.flushes,
	      "mapping where nothing was takes more than 3 hypercalls, or a flush");
	check(c.map_hypercalls - b.map_hypercalls <= 3 && c.flushes - b.flushes == 1,
	      "replacing takes more than 3 hypercalls and one flush");
	check(c.clear_hypercalls == b.clear_hypercalls, "replacing clears first");
	check(d.clear_hypercalls - c.clear_hypercalls <= 3 && d.flushes - c.flushes <= 1,
	      "munmap takes more than 3 hypercalls and one flush");
}

static void first_map(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 700, PROT_READ);
	struct xenferry_counters a, b;
	uint64_t value;

	a = counters(fd);
	check(replaces(fd, p + 50 * PAGE, 100, stamped), "map in the middle of a new area");
	b = counters(fd);
	check(dom0_is_pvh || a.flushes == b.flushes, "a flush, where nothing was mapped");
	check(pages_show(p + 50 * PAGE, stamped, 100), "not the frames that were asked for");
	check(peek(p, &value) == 7 && peek(p + 150 * PAGE, &value) == 7, "more is mapped than asked for");
	check(replaces(fd, p, 700, stamped + 300), "map over part of it and new");
	check(pages_show(p, stamped + 300, 700), "not the frames that were asked for");
	check(!munmap(p, 700 * PAGE), "munmap");
	close(fd);
}

/* What is mapped is found and cleared in batches, wherever in the area it lies. */
static void sparse(void)
{
	int fd = privcmd_open();
	char *p = area_at(fd, room(4096) + 300 * PAGE, 3000, PROT_READ);
	static const unsigned int at[] = { 1, 211, 800, 2000, 2999 };
	struct xenferry_counters a, b;
	unsigned int i;
	int error;

	for (i = 0; i < 5; i++)
		check(replaces(fd, p + at[i] * PAGE, 1, stamped + i), "map");
	check(batch(fd, p, 3000, guest, stamped, errors) == -1 && errno == EINVAL,
	      "the stock call maps over what is mapped");
	check(!batch(fd, p, 1, guest, stamped + 9, &error), "the stock call in a free slot");
	a = counters(fd);
	check(!munmap(p, 3000 * PAGE), "munmap");
	b = counters(fd);
	if (!dom0_is_pvh)
		check(b.clear_entries - a.clear_entries == 6 && b.flushes - a.flushes == 1,
		      "%llu entries cleared, %llu flushes", b.clear_entries - a.clear_entries,
		      b.flushes - a.flushes);
	close(fd);
}

static void failed_slots(void)
{
	static uint64_t frames[1200], before[1200];
	int i, fd = privcmd_open();
	char *p = area(fd, 1200, PROT_READ);
	unsigned int bad = 0, wrong = 0;
	uint64_t value;

	check(replaces(fd, p, 1200, stamped), "map");
	for (i = 0; i < 1200; i++) {
		frames[i] = i == 0 || i == 511 || i == 1199 || i % 97 == 5 ? HOLE : stamped[i + 1300];
		bad += frames[i] == HOLE;
	}
	memcpy(before, frames, sizeof(frames));
	memset(errors, 0x55, sizeof(errors));
	check(replace(fd, p, 1200, frames) == (int)bad, "the number of failed frames");
	check(!memcmp(before, frames, sizeof(frames)), "the input was written to");
	for (i = 0; i < 1200; i++) {
		if (frames[i] == HOLE)
			wrong += errors[i] != -EINVAL || peek(p + i * PAGE, &value) != 7;
		else
			wrong += errors[i] || !pages_show(p + i * PAGE, frames + i, 1);
	}
	check(!wrong, "%u slots are not as they should be", wrong);
	check(errors[1200] == 0x55555555, "more errors written than frames given");
	check(replaces(fd, p, 1200, stamped), "map again");
	check(pages_show(p, stamped, 1200), "not the frames that were asked for");
	check(!munmap(p, 1200 * PAGE), "munmap");
	close(fd);
}

/* A domain that doesn't exist: nothing is left, and it is told for each frame. */
static void failed_all(void)
{
	int i, fd = privcmd_open();
	char *p = area(fd, 600, PROT_READ);
	struct xenferry_map map;
	uint64_t value;

	check(replaces(fd, p, 600, stamped), "map");
	map = map_of(p, 600, stamped);
	map.domid = NOBODY;
	check(!ioctl(fd, IOCTL_XENFERRY_MAP, &map) && map.failed == 600, "failed is %u", map.failed);
	for (i = 0; i < 600; i++)
		if (errors[i] != -ESRCH || peek(p + i * PAGE, &value) != 7)
			break;
	check(i == 600, "slot %d has error %d", i, errors[i]);
	check(!munmap(p, 600 * PAGE), "munmap");
	close(fd);
}

static void clears(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 1100, PROT_READ);
	uint64_t value;

	check(!clear(fd, p, 1100), "clear where nothing was ever mapped");
	check(replaces(fd, p, 1100, stamped), "map");
	check(!clear(fd, p + 500 * PAGE, 20), "clear");
	check(pages_show(p, stamped, 500) && pages_show(p + 520 * PAGE, stamped + 520, 580),
	      "more is gone than asked for");
	check(peek(p + 500 * PAGE, &value) == 7 && peek(p + 519 * PAGE, &value) == 7,
	      "it can still be read");
	check(!clear(fd, p + 490 * PAGE, 40), "clear what is partly empty");
	check(!clear(fd, p + 490 * PAGE, 40), "clear what is empty");
	check(replaces(fd, p + 480 * PAGE, 60, stamped + 900), "map again");
	check(pages_show(p + 480 * PAGE, stamped + 900, 60), "not the frames that were asked for");
	check(!clear(fd, p, 1100), "clear all");
	if (!dom0_is_pvh) {
		check(!batch(fd, p, 1100, guest, stamped, errors), "the stock call in a cleared area");
		check(pages_show(p, stamped, 1100), "not the frames that were asked for");
	}
	check(!munmap(p, 1100 * PAGE), "munmap");
	close(fd);
}

#define REFUSES(error, change) do { \
	struct xenferry_map m_ = map_of(p, 8, stamped), *m = &m_; \
	change; \
	check(ioctl(fd, IOCTL_XENFERRY_MAP, m) == -1 && errno == (error), \
	      #change ": not refused as it should be"); \
} while (0)

static void map_arguments(void)
{
	int fd = privcmd_open(), bound = privcmd_open();
	char *q = room(64), *p = area_at(fd, q, 8, PROT_READ), *other;

	area_at(fd, q + 8 * PAGE, 8, PROT_READ);
	check(replaces(fd, p, 8, stamped), "map");
	REFUSES(EINVAL, m->flags = 1);
	REFUSES(EINVAL, m->reserved[0] = 1);
	REFUSES(EINVAL, m->reserved[1] = 1ULL << 63);
	REFUSES(EINVAL, m->num = 0);
	REFUSES(EINVAL, m->num = query().max_frames + 1);
	REFUSES(EINVAL, m->num = 0xffffffff);
	REFUSES(EINVAL, m->num = 9);
	REFUSES(EINVAL, m->addr += PAGE);
	REFUSES(EINVAL, m->addr -= PAGE);
	REFUSES(EINVAL, m->addr += 1);
	REFUSES(EINVAL, m->addr = 0);
	REFUSES(EINVAL, m->addr = -8 * PAGE);
	REFUSES(EINVAL, m->domid = 0x10000 + guest);
	REFUSES(EINVAL, m->addr = (unsigned long)stamped & ~(PAGE - 1));
	REFUSES(EFAULT, m->frames = 8);
	REFUSES(EFAULT, m->frames = -8UL);
	check(pages_show(p, stamped, 8), "a refused call has changed something");
	REFUSES(EFAULT, m->errors = 8);
	check(ioctl(fd, IOCTL_XENFERRY_MAP, BAD) == -1 && errno == EFAULT, "bad pointer");
	check(!ioctl(bound, IOCTL_PRIVCMD_RESTRICT, &(domid_t){ NOBODY }), "restrict");
	check(replace(bound, p, 8, stamped) == -EPERM, "maps for who is tied to another domain");
	other = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	check(replace(fd, other, 8, stamped) == -EINVAL, "maps in a private mapping");
	munmap(other, 8 * PAGE);
	munmap(q, 16 * PAGE);
	close(fd);
	close(bound);
}

static void clear_arguments(void)
{
	int fd = privcmd_open();
	char *q = room(64), *p = area_at(fd, q, 8, PROT_READ);
	struct xenferry_clear c = { .addr = (unsigned long)p, .num = 8 };

	check(replaces(fd, p, 8, stamped), "map");
	check(clear(fd, p, 0) == -EINVAL, "num 0");
	check(clear(fd, p, 9) == -EINVAL, "past the end");
	check(clear(fd, p, 0xffffffff) == -EINVAL, "4 G");
	check(clear(fd, p - PAGE, 2) == -EINVAL, "before the start");
	check(clear(fd, p + 1, 1) == -EINVAL, "unaligned");
	check(clear(fd, (void *)((unsigned long)stamped & ~(PAGE - 1)), 1) == -EINVAL, "other memory");
	c.flags = 1;
	check(ioctl(fd, IOCTL_XENFERRY_CLEAR, &c) == -1 && errno == EINVAL, "flags");
	c.flags = 0;
	c.reserved[1] = 1;
	check(ioctl(fd, IOCTL_XENFERRY_CLEAR, &c) == -1 && errno == EINVAL, "reserved");
	check(ioctl(fd, IOCTL_XENFERRY_CLEAR, BAD) == -1 && errno == EFAULT, "bad pointer");
	check(pages_show(p, stamped, 8), "a refused call has changed something");
	munmap(p, 8 * PAGE);
	close(fd);
}

static void moved_window(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 900, PROT_READ), *q = room(1024) + 5 * PAGE;

	check(replaces(fd, p, 900, stamped), "map");
	check(mremap(p, 900 * PAGE, 900 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q) == q, "move");
	check(pages_show(q, stamped, 900), "the frames didn't come along");
	check(replace(fd, p, 900, stamped) == -EINVAL, "maps at the old place");
	check(replaces(fd, q, 900, stamped + 1000), "replace");
	check(pages_show(q, stamped + 1000, 900), "not the frames that were asked for");
	check(!munmap(q, 900 * PAGE), "munmap");
	close(fd);
}

/* Maps num frames by one call, the stock one or ours, and looks at some of them. */
static void map_very_many(unsigned int num, bool stock_call)
{
	uint64_t *frames = malloc(num * sizeof(*frames));
	int *many = malloc(num * sizeof(*many));
	int fd = privcmd_open();
	char *p = area(fd, num, PROT_READ);
	struct xenferry_map map = map_of(p, num, frames);
	unsigned int i;

	need(frames && many, "get memory for the arrays");
	for (i = 0; i < num; i++)
		frames[i] = stamped[i % STAMPED];
	map.errors = (unsigned long)many;
	if (stock_call)
		check(!batch(fd, p, num, guest, frames, many), "map %u frames", num);
	else
		check(!ioctl(fd, IOCTL_XENFERRY_MAP, &map) && !map.failed, "map %u frames", num);
	for (i = 0; i < num; i += 1021)
		if (!pages_show(p + i * PAGE, frames + i, 1))
			break;
	check(i >= num, "slot %u shows another frame", i);
	check(!munmap(p, num * PAGE), "munmap");
	close(fd);
	free(frames);
	free(many);
}

static void largest(void)
{
	map_very_many(query().max_frames, false);
}

/* A GiB a call, several times. */
static void long_calls(void)
{
	int i;

	for (i = 0; i < 4; i++)
		map_very_many(1 << 18, true);
}

static void read_it(void *p)
{
	*(volatile char *)p;
}

static void not_inherited(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 8, PROT_READ);

	check(replaces(fd, p, 8, stamped), "map");
	check(in_child(read_it, p) == -11, "a child has the mapping");
	check(pages_show(p, stamped, 8), "the parent lost it");
	munmap(p, 8 * PAGE);
	close(fd);
}

struct worker {
	int fd;
	char *window;
	unsigned long part, bad;
	pthread_t thread;
};

/* Threads with a part each of one window, which also unmap windows of their own. */
static void *work(void *arg)
{
	struct worker *w = arg;
	char *mine = w->window + w->part * 300 * PAGE;
	int e[300], i;

	/* Frame by frame, as a PVH Dom0 maps them, it takes the emulator long. */
	for (i = 0; i < (dom0_is_pvh ? 5 : 30); i++) {
		const uint64_t *frames = stamped + (w->part * 700 + i * 13) % 3000;
		struct xenferry_map map = map_of(mine, 300, frames);
		char *own = area(w->fd, 5, PROT_READ);

		map.errors = (unsigned long)e;
		w->bad += ioctl(w->fd, IOCTL_XENFERRY_MAP, &map) || map.failed ||
			  !pages_show(mine, frames, 300);
		map = map_of(own, 5, frames);
		map.errors = (unsigned long)e;
		w->bad += ioctl(w->fd, IOCTL_XENFERRY_MAP, &map) || map.failed;
		w->bad += munmap(own, 5 * PAGE) != 0;
		w->bad += i % 4 == 0 && clear(w->fd, mine, 300);
	}
	return NULL;
}

static void threads(void)
{
	int i, fd = privcmd_open();
	char *p = area(fd, 1200, PROT_READ);
	struct worker w[4];

	for (i = 0; i < 4; i++) {
		w[i] = (struct worker){ .fd = fd, .window = p, .part = i };
		need(!pthread_create(&w[i].thread, NULL, work, &w[i]), "start a thread");
	}
	for (i = 0; i < 4; i++) {
		pthread_join(w[i].thread, NULL);
		check(!w[i].bad, "thread %d saw %lu wrong", i, w[i].bad);
	}
	check(!munmap(p, 1200 * PAGE), "munmap");
	close(fd);
}

static const struct test_case cases[] = {
	CASE("query", query_says),
	CASE("hypercalls", hypercalls),
	CASE("first-map", first_map),
	CASE("sparse", sparse),
	CASE("failed-slots", failed_slots),
	CASE("failed-all", failed_all),
	CASE("clears", clears),
	CASE("map-arguments", map_arguments),
	CASE("clear-arguments", clear_arguments),
	CASE("moved-window", moved_window),
	CASE("largest", largest),
	CASE("long-calls", long_calls),
	CASE("not-inherited", not_inherited),
	CASE("threads", threads),
	END_OF_CASES
};

int main(int argc, char **argv)
{
	return run_cases(argc, argv, cases);
}
