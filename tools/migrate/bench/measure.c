/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#include <xenforeignmemory.h>

/* Operations that are made again for the driver's own counters: they count the same each time. */
#define COUNTED 3

struct bench {
	const struct bench_target *target;
	const struct bench_plan *plan;
	xenforeignmemory_handle *fmem;
	struct xcbatch *xb;
	int *errs;
};

/* Neither what was before nor what comes after may slip over the reading. */
static uint64_t ticks(void)
{
	uint64_t now;

	_mm_lfence();
	now = __rdtsc();
	_mm_lfence();
	return now;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const char *bench_op_name(enum bench_op op)
{
	static const char *const names[] = { "map", "unmap", "replace", "loop" };

	return names[op];
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void bench_summarize(struct bench_row *row)
{
	uint64_t *took = calloc(row->samples, sizeof(*took));
	size_t half = row->samples / 2;

	if (!took)
		return;
	for (size_t i = 0; i < row->samples; i++)
		took[i] = row->sample[i].end - row->sample[i].begin;
	qsort(took, row->samples, sizeof(*took), compare);
	row->min = took[0];
	row->max = took[row->samples - 1];
	row->median = row->samples % 2 ? took[half] : (took[half - 1] + took[half]) / 2;
	free(took);
}

/* ---- one operation -------------------------------------------------------- */

static int map_once(struct bench *b, size_t n, void **at, struct bench_sample *s)
{
	s->begin = ticks();
	*at = xenforeignmemory_map(b->fmem, b->target->domid, PROT_READ, n, b->target->frames, b->errs);
	s->end = ticks();
	if (!*at)
		return -errno;
	for (size_t i = 0; i < n; i++)
		if (b->errs[i])
			return -ENXIO;
	return 0;
}

static int unmap_once(struct bench *b, size_t n, void *at, struct bench_sample *s)
{
	int rc;

	s->begin = ticks();
	rc = xenforeignmemory_unmap(b->fmem, at, n);
	s->end = ticks();
	return rc < 0 ? -errno : 0;
}

/* ---- rows ----------------------------------------------------------------- */

static int new_row(struct bench_row *row, enum bench_op op, size_t n, size_t samples)
{
	memset(row, 0, sizeof(*row));
	row->op = op;
	row->n = n;
	row->samples = samples;
	row->sample = calloc(samples, sizeof(*row->sample));
	return row->sample ? 0 : -ENOMEM;
}

static void add_counts(struct bench_row *row, size_t operations,
		       const struct xcbatch_counters *before, const struct xcbatch_counters *after)
{
	uint64_t calls = after->map_hypercalls - before->map_hypercalls +
			 after->clear_hypercalls - before->clear_hypercalls;

	row->counted += operations;
	row->hypercalls += calls;
	row->flushes += after->flushes - before->flushes;
}

/* Is a figure that began then to get no more samples? */
static bool enough(const struct bench *b, size_t samples, uint64_t began)
{
	return b->plan->limit_ns && samples >= BENCH_LEAST_SAMPLES &&
	       now_ns() - began >= b->plan->limit_ns;
}

/* What the driver counts over the same operations, which are made again untimed. */
static int count_map_and_unmap(struct bench *b, struct bench_row *map, struct bench_row *unmap)
{
	struct xcbatch_counters c[3];
	struct bench_sample unused;
	void *at;
	int rc = 0;

	for (size_t i = 0; i < map->samples && i < COUNTED && rc == 0; i++) {
		if (xcbatch_counters(b->xb, &c[0]) < 0)
			return 0;
		rc = map_once(b, map->n, &at, &unused);
		if (rc < 0)
			return rc;
		xcbatch_counters(b->xb, &c[1]);
		rc = unmap_once(b, map->n, at, &unused);
		xcbatch_counters(b->xb, &c[2]);
		add_counts(map, 1, &c[0], &c[1]);
		add_counts(unmap, 1, &c[1], &c[2]);
	}
	return rc;
}

static int measure_map_and_unmap(struct bench *b, struct bench_row *map, struct bench_row *unmap)
{
	uint64_t began = now_ns();
	void *at;
	int rc = 0;

	/* The first one fills caches and allocates page tables: not counted. */
	for (size_t i = 0; i <= map->samples && rc == 0; i++) {
		size_t k = i ? i - 1 : 0;

		rc = map_once(b, map->n, &at, &map->sample[k]);
		if (rc == 0)
			rc = unmap_once(b, map->n, at, &unmap->sample[k]);
		if (i && enough(b, i, began))
			map->samples = unmap->samples = i;
	}
	if (rc == 0)
		rc = count_map_and_unmap(b, map, unmap);
	bench_summarize(map);
	bench_summarize(unmap);
	return rc;
}

/* Two sets of frames take turns: each operation puts n frames over n others. */
static int replace_once(struct bench *b, struct xcbatch_window *w, size_t n, size_t turn,
			struct bench_sample *s)
{
	const uint64_t *frames = b->target->frames + (turn % 2 ? n : 0);
	int rc;

	s->begin = ticks();
	rc = xcbatch_window_map(w, 0, frames, n, b->errs);
	s->end = ticks();
	return rc;
}

static int replace_in_turn(struct bench *b, struct xcbatch_window *w, struct bench_row *row)
{
	struct xcbatch_counters before, after;
	struct bench_sample unused;
	uint64_t began = now_ns();
	size_t turn = 0, counted = 0;
	int rc = 0;

	/* The first maps, the second fills caches: neither is a sample. */
	for (; turn < row->samples + 2 && rc == 0; turn++) {
		rc = replace_once(b, w, row->n, turn, &row->sample[turn < 2 ? 0 : turn - 2]);
		if (turn >= 2 && enough(b, turn - 1, began))
			row->samples = turn - 1;
	}
	if (rc == 0)
		rc = xcbatch_counters(b->xb, &before);
	for (; counted < row->samples && counted < COUNTED && rc == 0; counted++)
		rc = replace_once(b, w, row->n, turn++, &unused);
	if (rc == 0)
		rc = xcbatch_counters(b->xb, &after);
	if (rc == 0)
		add_counts(row, counted, &before, &after);
	return rc;
}

static int measure_replace(struct bench *b, struct bench_row *row)
{
	struct xcbatch_window *w;
	int rc = xcbatch_window_create(b->xb, b->target->domid, row->n, XCBATCH_READ, &w);

	if (rc < 0)
		return rc;
	rc = replace_in_turn(b, w, row);
	xcbatch_window_destroy(w);
	bench_summarize(row);
	return rc;
}

static int loop_once(struct bench *b, struct bench_row *row, struct bench_sample *s)
{
	struct bench_sample unused;
	void *at;
	int rc = 0;

	s->begin = ticks();
	for (size_t round = 0; round < row->rounds && rc == 0; round++) {
		rc = map_once(b, row->n, &at, &unused);
		if (rc == 0)
			rc = unmap_once(b, row->n, at, &unused);
	}
	s->end = ticks();
	return rc;
}

static int measure_loop(struct bench *b, struct bench_row *row)
{
	uint64_t began = now_ns();
	int rc = 0;

	for (size_t i = 0; i < row->samples && rc == 0; i++) {
		rc = loop_once(b, row, &row->sample[i]);
		if (enough(b, i + 1, began))
			row->samples = i + 1;
	}
	bench_summarize(row);
	return rc;
}

static int measure_loop_of(struct bench *b, const struct bench_plan *plan, size_t n,
			   struct bench_result *out)
{
	struct bench_row *row = out->rows + out->rows_count;
	int rc = new_row(row, BENCH_LOOP, n, plan->repeat);

	if (rc < 0)
		return rc;
	out->rows_count++;
	row->rounds = plan->rounds;
	rc = measure_loop(b, row);
	if (plan->progress)
		plan->progress(plan->ctx, out->rows_count, plan->sizes_count);
	return rc;
}

static int measure_size(struct bench *b, const struct bench_plan *plan, size_t n,
			struct bench_result *out)
{
	size_t all = plan->sizes_count * (out->driver.batched ? 3 : 2);
	struct bench_row *row = out->rows + out->rows_count;
	int rc = 0;

	if (plan->rounds)
		return measure_loop_of(b, plan, n, out);
	for (int op = BENCH_MAP; op <= (out->driver.batched ? BENCH_REPLACE : BENCH_UNMAP); op++) {
		rc = new_row(&row[op], (enum bench_op)op, n, plan->repeat);
		if (rc < 0)
			return rc;
		out->rows_count++;
	}
	rc = measure_map_and_unmap(b, &row[BENCH_MAP], &row[BENCH_UNMAP]);
	if (rc == 0 && out->driver.batched)
		rc = measure_replace(b, &row[BENCH_REPLACE]);
	if (plan->progress)
		plan->progress(plan->ctx, out->rows_count, all);
	return rc;
}

static int open_bench(struct bench *b, size_t most)
{
	int rc = xcbatch_open(&b->xb);

	if (rc < 0)
		return rc;
	b->fmem = xenforeignmemory_open(bench_quiet(), 0);
	b->errs = calloc(most, sizeof(*b->errs));
	if (!b->fmem)
		return -errno;
	return b->errs ? 0 : -ENOMEM;
}

static void close_bench(struct bench *b)
{
	if (b->fmem)
		xenforeignmemory_close(b->fmem);
	xcbatch_close(b->xb);
	free(b->errs);
}

int bench_run(struct bench_target *target, const struct bench_plan *plan, struct bench_result *out)
{
	struct bench b = { .target = target, .plan = plan };
	uint64_t tick = ticks(), ns = now_ns();
	size_t most = 1;
	int rc;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < plan->sizes_count; i++)
		most = plan->sizes[i] > most ? plan->sizes[i] : most;
	rc = open_bench(&b, most);
	if (rc == 0) {
		xcbatch_driver(b.xb, &out->driver);
		out->rows = calloc(plan->sizes_count * 3, sizeof(*out->rows));
		rc = out->rows ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < plan->sizes_count && rc == 0; i++)
		rc = measure_size(&b, plan, plan->sizes[i], out);
	close_bench(&b);
	tick = ticks() - tick;
	ns = now_ns() - ns;
	out->ticks_per_ns = ns ? (double)tick / (double)ns : 0;
	return rc;
}

void bench_result_free(struct bench_result *result)
{
	for (size_t i = 0; i < result->rows_count; i++)
		free(result->rows[i].sample);
	free(result->rows);
	memset(result, 0, sizeof(*result));
}
