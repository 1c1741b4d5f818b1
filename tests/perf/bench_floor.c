/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-floor FRAMES,FRAMES.. REPEAT SECONDS MODE DOMAIN
 *
 * What mapping, replacing and unmapping cost in bare hypercalls, of the same
 * frames in the same order as `xenferry bench map` takes: JSON rows like its
 * own, with op "floor" and, in `of`, what of. Needs the module xenferry-floor.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "floor/xenferry_floor.h"

#define WARM_UP 1
#define LEAST 3

/* The figures of one call, in the order they stand in `names`. */
#define FIGURES 6
static const char *const names[FIGURES] = { "map", "unmap", "replace", "unmap_multicall", "flush", "clock" };

struct run {
	int fd;
	const struct bench_target *target;
	const char *mode;
	size_t repeat;
	uint64_t limit_ns;
	struct bench_sample *sample[FIGURES];
	bool any;
};

static int die(const char *what)
{
	fprintf(stderr, "bench-floor: %s (%s)\n", what, strerror(errno));
	return 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ask_once(const struct run *run, size_t n, struct xenferry_floor *ask)
{
	*ask = (struct xenferry_floor){
		.frames = (uintptr_t)run->target->frames,
		.others = (uintptr_t)(run->target->frames + n),
		.num = (uint32_t)n,
		.domid = run->target->domid,
	};
	if (ioctl(run->fd, IOCTL_XENFERRY_FLOOR, ask) < 0)
		return -errno;
	return ask->failed ? -ENXIO : 0;
}

static void print_row(struct run *run, const struct bench_host *host, const struct bench_row *row, const char *of)
{
	printf("%s  {\"dom0\": \"%s\", \"kernel\": \"%s\", \"mode\": \"%s\", \"n\": %zu, \"impl\": \"floor\", "
	       "\"op\": \"floor\", \"of\": \"%s\", \"median\": %" PRIu64 ", \"min\": %" PRIu64 ", \"max\": %" PRIu64
	       ", \"samples\": %zu}", run->any ? ",\n" : "", host->dom0, host->kernel, run->mode, row->n, of,
	       row->median, row->min, row->max, row->samples);
	run->any = true;
}

static void print_size(struct run *run, const struct bench_host *host, size_t n, size_t samples)
{
	for (int f = 0; f < FIGURES; f++) {
		struct bench_row row = { .n = n, .samples = samples, .sample = run->sample[f] };

		bench_summarize(&row);
		/* 0: there is no such thing in this Dom0. */
		if (row.max)
			print_row(run, host, &row, names[f]);
	}
}

static int measure(struct run *run, const struct bench_host *host, size_t n)
{
	uint64_t began = now_ns();
	struct xenferry_floor ask;
	size_t i;

	for (i = 0; i < run->repeat + WARM_UP; i++) {
		int rc = ask_once(run, n, &ask);
		const uint64_t took[FIGURES] = { ask.map, ask.unmap, ask.replace, ask.unmap_multicall, ask.flush, ask.clock };

		if (rc < 0) {
			errno = -rc;
			return die("a round failed, or frames of it could not be mapped");
		}
		for (int f = 0; f < FIGURES; f++)
			run->sample[f][i < WARM_UP ? 0 : i - WARM_UP] = (struct bench_sample){ 0, took[f] };
		if (run->limit_ns && i + 1 >= LEAST + WARM_UP && now_ns() - began > run->limit_ns) {
			i++;
			break;
		}
	}
	print_size(run, host, n, i - WARM_UP);
	return 0;
}

static int measure_all(struct run *run, const char *sizes)
{
	struct bench_host host;
	int bad = 0;

	bench_host(&host);
	for (int f = 0; f < FIGURES; f++) {
		run->sample[f] = calloc(run->repeat, sizeof(struct bench_sample));
		if (!run->sample[f])
			return die("no memory");
	}
	printf("{\"rows\": [\n");
	while (!bad && *sizes) {
		char *end;
		size_t n = strtoul(sizes, &end, 10);

		if (n < 1 || n > XENFERRY_FLOOR_MAX || 2 * n > run->target->count) {
			errno = EINVAL;
			return die("a number of frames is too large for the device or the domain");
		}
		bad = measure(run, &host, n);
		sizes = *end ? end + 1 : end;
	}
	printf("\n]}\n");
	return bad;
}

int main(int argc, char **argv)
{
	struct bench_target target;
	struct run run = { .target = &target };
	int rc;

	if (argc != 6) {
		fprintf(stderr, "usage: bench-floor FRAMES,FRAMES.. REPEAT SECONDS MODE DOMAIN\n");
		return 2;
	}
	run.repeat = strtoul(argv[2], NULL, 10);
	run.limit_ns = strtoull(argv[3], NULL, 10) * 1000000000u;
	run.mode = argv[4];
	rc = bench_find_domain(argv[5], &target);
	if (rc == 0)
		rc = bench_find_frames(&target, 65536);
	errno = -rc;
	if (rc < 0)
		return die("the domain's frames can't be found");
	run.fd = open(XENFERRY_FLOOR_DEVICE, O_RDWR | O_CLOEXEC);
	if (run.fd < 0)
		return die(XENFERRY_FLOOR_DEVICE " can't be opened");
	if (run.repeat < 1)
		return die("REPEAT is a number from 1");
	return measure_all(&run, argv[1]);
}
