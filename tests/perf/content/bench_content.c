// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * bench-content OUT [MIB]: what comparing a guest's memory with what was sent of it costs, without Xen. The engine's own
 * comparison runs over memory that lies there already, so mapping is not in it. Beside it the same memory only read:
 * the rate no comparison can exceed. Then the pause a guest has from it, by its size.
 */
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xcbatch.h>

#include "engine/clock.h"
#include "engine/content.h"

#define REPEAT	5
#define THREADS 16u

struct memory_guest {
	struct guest base;
	char *memory;
};

static int map_lane(struct guest *g, unsigned lane, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	(void)lane;
	memset(errs, 0, n * sizeof(*errs));
	*base = ((struct memory_guest *)g)->memory + gfns[0] * GUEST_PAGE_SIZE;	/* all of it is there, in order */
	return 0;
}

static const struct guest_ops ops = { .map_lane = map_lane };

static double cpu_now(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* ---- only reading ------------------------------------------------------- */

typedef uint64_t piece __attribute__((vector_size(16), may_alias));

struct reader {
	pthread_t thread;
	const piece *from, *to;
	piece seen;
};

static void *read_all(void *data)
{
	struct reader *r = data;
	piece a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	for (const piece *p = r->from; p < r->to; p += 4) {
		a ^= p[0];
		b ^= p[1];
		c ^= p[2];
		d ^= p[3];
	}
	r->seen = a ^ b ^ c ^ d;
	return NULL;
}

static void read_memory(const char *memory, uint64_t frames, unsigned threads)
{
	struct reader readers[THREADS];
	size_t each = (size_t)(frames / threads) * GUEST_PAGE_SIZE;

	for (unsigned i = 0; i < threads; i++) {
		readers[i].from = (const piece *)(memory + i * each);
		readers[i].to = (const piece *)(memory + (i + 1) * each);
		if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]))
			exit(1);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(readers[i].thread, NULL);
}

/* ---- the comparison ----------------------------------------------------- */

struct bench {
	struct memory_guest guest;
	uint64_t frames;
	struct xcbatch_content *sent;
	uint64_t *ram, *map;
	struct json_object *rows;
};

static void compare_memory(struct bench *b, uint64_t frames, unsigned threads)
{
	struct xf_error err = { .code = 0 };
	struct content_scan scan = {
		.guest = &b->guest.base, .sent = b->sent, .ram = b->ram, .map = b->map, .frames = frames,
		.threads = threads,
	};

	xcbatch_bitmap_fill(b->map, frames);
	if (content_scan(&scan, &err) || xcbatch_bitmap_count(b->map, frames)) {
		fprintf(stderr, "bench-content: memory that nobody wrote was found written. %s\n", err.text);
		exit(1);
	}
}

struct took {
	double wall, cpu;
};

static struct took least(struct bench *b, uint64_t frames, unsigned threads, bool compare)
{
	struct took best = { 1e9, 1e9 };

	for (int i = 0; i < REPEAT; i++) {
		double wall = clock_now(), cpu = cpu_now();

		if (compare)
			compare_memory(b, frames, threads);
		else
			read_memory(b->guest.memory, frames, threads);
		wall = clock_now() - wall;
		cpu = cpu_now() - cpu;
		best.wall = wall < best.wall ? wall : best.wall;
		best.cpu = cpu < best.cpu ? cpu : best.cpu;
	}
	return best;
}

static void add(struct json_object *row, const char *key, double value, const char *format)
{
	char text[64];

	snprintf(text, sizeof(text), format, value);
	json_object_object_add(row, key, json_object_new_double_s(value, text));
}

static void measure(struct bench *b, uint64_t frames, unsigned threads)
{
	struct took reading = least(b, frames, threads, false), comparing = least(b, frames, threads, true);
	double gb = (double)frames * GUEST_PAGE_SIZE / 1e9;
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "mib", json_object_new_int64((int64_t)(frames / 256)));
	json_object_object_add(row, "threads", json_object_new_int64(threads));
	add(row, "read_gb_s", gb / reading.wall, "%.2f");
	add(row, "compare_gb_s", gb / comparing.wall, "%.2f");
	add(row, "read_gb_cpu_s", gb / reading.cpu, "%.2f");
	add(row, "compare_gb_cpu_s", gb / comparing.cpu, "%.2f");
	add(row, "pause_ms", comparing.wall * 1e3, "%.3f");
	json_object_array_add(b->rows, row);
	printf("%8llu %8u %12.2f %12.2f %14.2f %14.2f %12.1f\n", (unsigned long long)frames / 256, threads,
	       gb / reading.wall, gb / comparing.wall, gb / reading.cpu, gb / comparing.cpu, comparing.wall * 1e3);
}

static void prepare(struct bench *b, uint64_t mib)
{
	size_t words;

	b->frames = mib * 256;
	words = xcbatch_bitmap_words(b->frames);
	b->guest.base = (struct guest) { .ops = &ops };
	b->guest.memory = aligned_alloc(GUEST_PAGE_SIZE, b->frames * GUEST_PAGE_SIZE);
	b->ram = calloc(words, sizeof(*b->ram));
	b->map = calloc(words, sizeof(*b->map));
	b->rows = json_object_new_array();
	if (!b->guest.memory || !b->ram || !b->map || xcbatch_content_create(b->frames, &b->sent)) {
		fprintf(stderr, "bench-content: no %llu MiB of memory; give a smaller number as the second argument.\n",
			(unsigned long long)mib);
		exit(1);
	}
	xcbatch_bitmap_fill(b->ram, b->frames);
	for (uint64_t i = 0; i < b->frames; i++) {
		uint64_t *page = (uint64_t *)(b->guest.memory + i * GUEST_PAGE_SIZE);

		for (size_t j = 0; j < GUEST_PAGE_SIZE / sizeof(*page); j++)
			page[j] = (i * 512 + j) * 0x9e3779b97f4a7c15u;
		if (xcbatch_content_note(b->sent, i, 0, page))
			exit(1);
	}
}

int main(int argc, char **argv)
{
	uint64_t mib = argc > 2 ? strtoull(argv[2], NULL, 10) : 2048;
	struct json_object *all = json_object_new_object();
	struct bench b = { .frames = 0 };

	if (argc < 2 || argc > 3 || mib < 16 || mib > 1048576) {
		fprintf(stderr, "usage: bench-content OUT [MIB, from 16 on]\n");
		return 2;
	}
	prepare(&b, mib);
	printf("%8s %8s %12s %12s %14s %14s %12s\n", "MiB", "threads", "read GB/s", "compare GB/s", "read GB/CPU s",
	       "compare GB/CPU s", "pause ms");
	for (unsigned threads = 1; threads <= content_threads(); threads *= 2)
		measure(&b, b.frames, threads);
	for (uint64_t part = b.frames / 16; part < b.frames; part *= 2)
		measure(&b, part, content_threads());
	json_object_object_add(all, "rows", b.rows);
	if (json_object_to_file_ext(argv[1], all, JSON_C_TO_STRING_PRETTY)) {
		fprintf(stderr, "bench-content: %s can't be written\n", argv[1]);
		return 1;
	}
	json_object_put(all);
	xcbatch_content_destroy(b.sent);
	free(b.guest.memory);
	free(b.ram);
	free(b.map);
	printf("the best of %d, %ld processors; written to %s\n", REPEAT, sysconf(_SC_NPROCESSORS_ONLN), argv[1]);
	return 0;
}
