// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * floor-check refuse DOMID        what /dev/xenferry-floor must refuse, it refuses
 * floor-check N... -- DOMID [S]   for each N, in ticks, medians of S samples (9): the bare
 *                                 hypercalls, and what the driver takes for the same frames
 * The domain is a paused guest of 128 MiB: its frames from 0x200 to 0x7000 exist.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
#include <x86intrin.h>

#include <xenforeignmemory.h>
#include <xen/xenferry_privcmd.h>
#include <xen/sys/privcmd.h>

#include "xenferry_floor.h"

#define FIRST 0x200u
#define COUNT 0x6e00u
#define SAMPLES_MAX 101

/* What is timed: the floor's own figures, then the driver's. */
enum { F_MAP, F_REPLACE, F_UNMAP, F_MULTICALL, F_FLUSH, MAP, UNMAP, REPLACE, MMAP, BATCH, CLEAR, MUNMAP, KINDS };
static const char *const names[KINDS] = {
	"floor-map", "floor-replace", "floor-unmap", "floor-unmap-multicall", "floor-flush",
	"map", "unmap", "replace", "mmap", "mapbatch", "clear", "empty-munmap",
};

static uint64_t frames[COUNT];
static uint64_t took[KINDS][SAMPLES_MAX];
static struct { uint64_t map_calls, clear_calls, flushes; } counted[KINDS];
static int floor_fd, privcmd_fd;
static xenforeignmemory_handle *fmem;

static void die(const char *what)
{
	fprintf(stderr, "floor-check: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t ticks(void)
{
	uint64_t now;

	_mm_lfence();
	now = __rdtsc();
	_mm_lfence();
	return now;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Scattered, in the same order in every run. */
static void choose_frames(void)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < COUNT; i++)
		frames[i] = FIRST + i;
	for (size_t i = COUNT; i > 1; i--) {
		uint64_t frame = frames[i - 1];
		size_t with;

		state = state * 6364136223846793005u + 1442695040888963407u;
		with = (size_t)((state >> 33) % i);
		frames[i - 1] = frames[with];
		frames[with] = frame;
	}
}

static struct xenferry_floor question(uint32_t domid, uint32_t n)
{
	return (struct xenferry_floor) {
		.frames = (uintptr_t)frames, .others = (uintptr_t)(frames + COUNT - n),
		.num = n, .domid = domid,
	};
}

static void must_refuse(const char *what, struct xenferry_floor ask, int error)
{
	int rc = ioctl(floor_fd, IOCTL_XENFERRY_FLOOR, &ask);

	if (rc != -1 || errno != error) {
		fprintf(stderr, "floor-check: %s: found %s, expected %s\n", what,
			rc ? strerror(errno) : "success", strerror(error));
		exit(1);
	}
	printf("%s: %s\n", what, strerror(error));
}

static void refuse(uint32_t domid)
{
	static uint64_t nowhere[4] = { UINT64_MAX >> 13, UINT64_MAX >> 13, UINT64_MAX >> 13, UINT64_MAX >> 13 };
	struct xenferry_floor ask = question(domid, 4);

	ask.num = 0;
	must_refuse("no frames", ask, EINVAL);
	ask.num = XENFERRY_FLOOR_MAX + 1;
	must_refuse("too many frames", ask, EINVAL);
	ask = question(domid, 4);
	ask.reserved = 1;
	must_refuse("a reserved field", ask, EINVAL);
	ask = question(domid, 4);
	ask.domid = 0x10000;
	must_refuse("no domain number", ask, EINVAL);
	ask = question(domid, 4);
	ask.frames = 8;
	must_refuse("frames nowhere", ask, EFAULT);
	ask = question(domid, 4);
	ask.others = 8;
	must_refuse("others nowhere", ask, EFAULT);
	ask = question(domid, 4);
	ask.frames = (uintptr_t)nowhere;
	ask.others = 0;
	must_refuse("no such frames", ask, EIO);
}

static void counters(struct xenferry_counters *c)
{
	if (ioctl(privcmd_fd, IOCTL_XENFERRY_COUNTERS, c))
		die("IOCTL_XENFERRY_COUNTERS");
}

static void add_counts(int kind, const struct xenferry_counters *before)
{
	struct xenferry_counters now;

	counters(&now);
	counted[kind].map_calls = now.map_hypercalls - before->map_hypercalls;
	counted[kind].clear_calls = now.clear_hypercalls - before->clear_hypercalls;
	counted[kind].flushes = now.flushes - before->flushes;
}

static void ask_floor(uint32_t domid, uint32_t n, int sample)
{
	struct xenferry_floor ask = question(domid, n);

	if (ioctl(floor_fd, IOCTL_XENFERRY_FLOOR, &ask))
		die("IOCTL_XENFERRY_FLOOR");
	if (ask.failed || ask.entered != 1) {
		fprintf(stderr, "floor-check: of %u frames %u could not be mapped, expected 0\n", n, ask.failed);
		exit(1);
	}
	took[F_MAP][sample] = ask.map;
	took[F_REPLACE][sample] = ask.replace;
	took[F_UNMAP][sample] = ask.unmap;
	took[F_MULTICALL][sample] = ask.unmap_multicall;
	took[F_FLUSH][sample] = ask.flush;
}

static void ask_driver(uint32_t domid, uint32_t n, int sample)
{
	static int errs[COUNT];
	static int32_t results[COUNT];
	struct xenferry_counters c;
	uint64_t begin;
	void *at;

	counters(&c);
	begin = ticks();
	at = xenforeignmemory_map(fmem, domid, PROT_READ, n, (xen_pfn_t *)frames, errs);
	took[MAP][sample] = ticks() - begin;
	if (!at)
		die("xenforeignmemory_map");
	add_counts(MAP, &c);

	struct xenferry_map map = {
		.addr = (uintptr_t)at, .frames = (uintptr_t)(frames + COUNT - n),
		.errors = (uintptr_t)results, .num = n, .domid = domid,
	};
	counters(&c);
	begin = ticks();
	if (ioctl(privcmd_fd, IOCTL_XENFERRY_MAP, &map))
		die("IOCTL_XENFERRY_MAP");
	took[REPLACE][sample] = ticks() - begin;
	add_counts(REPLACE, &c);
	if (map.failed) {
		fprintf(stderr, "floor-check: the driver could not map %u frames, expected 0\n", map.failed);
		exit(1);
	}

	counters(&c);
	begin = ticks();
	if (xenforeignmemory_unmap(fmem, at, n))
		die("xenforeignmemory_unmap");
	took[UNMAP][sample] = ticks() - begin;
	add_counts(UNMAP, &c);
}

/* The same in its parts, without the library: what the kernel takes by itself, and what is the driver's. */
static void ask_parts(uint32_t domid, uint32_t n, int sample)
{
	static int errs[COUNT];
	struct privcmd_mmapbatch_v2 batch = {
		.num = n, .dom = domid, .arr = (xen_pfn_t *)frames, .err = errs };
	struct xenferry_clear clear = { .num = n };
	uint64_t begin;
	void *at;

	begin = ticks();
	at = mmap(NULL, (size_t)n << 12, PROT_READ, MAP_SHARED, privcmd_fd, 0);
	took[MMAP][sample] = ticks() - begin;
	if (at == MAP_FAILED)
		die("mmap");
	batch.addr = clear.addr = (uintptr_t)at;

	begin = ticks();
	if (ioctl(privcmd_fd, IOCTL_PRIVCMD_MMAPBATCH_V2, &batch))
		die("IOCTL_PRIVCMD_MMAPBATCH_V2");
	took[BATCH][sample] = ticks() - begin;

	begin = ticks();
	if (ioctl(privcmd_fd, IOCTL_XENFERRY_CLEAR, &clear))
		die("IOCTL_XENFERRY_CLEAR");
	took[CLEAR][sample] = ticks() - begin;

	begin = ticks();
	munmap(at, (size_t)n << 12);
	took[MUNMAP][sample] = ticks() - begin;
}

static void measure(uint32_t domid, uint32_t n, int samples)
{
	/* The first of them only warms up. */
	for (int i = -1; i < samples; i++) {
		ask_floor(domid, n, i < 0 ? 0 : i);
		ask_driver(domid, n, i < 0 ? 0 : i);
		ask_parts(domid, n, i < 0 ? 0 : i);
	}
	printf("n=%u", n);
	for (int kind = 0; kind < KINDS; kind++) {
		qsort(took[kind], samples, sizeof(uint64_t), compare);
		printf(" %s=%" PRIu64, names[kind], took[kind][samples / 2]);
	}
	for (int kind = MAP; kind <= REPLACE; kind++)
		printf(" %s-calls=%" PRIu64 "+%" PRIu64 "+%" PRIu64, names[kind], counted[kind].map_calls,
		       counted[kind].clear_calls, counted[kind].flushes);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int dash = 1, samples = 9;

	floor_fd = open(XENFERRY_FLOOR_DEVICE, O_RDWR | O_CLOEXEC);
	if (floor_fd < 0)
		die(XENFERRY_FLOOR_DEVICE);
	choose_frames();
	if (argc == 3 && !strcmp(argv[1], "refuse")) {
		refuse(strtoul(argv[2], NULL, 10));
		return 0;
	}
	while (dash < argc && strcmp(argv[dash], "--"))
		dash++;
	if (dash + 1 >= argc) {
		fprintf(stderr, "usage: floor-check refuse DOMID | floor-check N... -- DOMID [SAMPLES]\n");
		return 2;
	}
	if (dash + 2 < argc)
		samples = atoi(argv[dash + 2]);
	if (samples < 1 || samples > SAMPLES_MAX)
		samples = SAMPLES_MAX;
	privcmd_fd = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC);
	fmem = xenforeignmemory_open(NULL, 0);
	if (privcmd_fd < 0 || !fmem)
		die("/dev/xen/privcmd");
	for (int i = 1; i < dash; i++)
		measure(strtoul(argv[dash + 1], NULL, 10), strtoul(argv[i], NULL, 10), samples);
	return 0;
}
