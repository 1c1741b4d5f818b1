/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry bench map: what is measured, and on what. Nothing here prints. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xcbatch.h"

/* ---- the domain whose frames are mapped ---------------------------------- */

struct bench_target {
	uint32_t domid;
	bool pv;
	uint64_t shared_info;	/* of a PV guest: the frame */
	uint64_t *frames;	/* that can be mapped, in scattered order */
	size_t count;
};

/* domain: a number, or a name as xenstore has it. -ENXIO: there is no such domain. */
int bench_find_domain(const char *domain, struct bench_target *out);
/*
 * Finds up to `wanted` frames that can be mapped, and scatters them; fewer is no
 * error. -ENODATA: a PV guest that doesn't list its frames where a 64-bit kernel
 * does once it has booted.
 */
int bench_find_frames(struct bench_target *target, size_t wanted);
void bench_forget(struct bench_target *target);

/* ---- measuring ------------------------------------------------------------- */

/* BENCH_LOOP: many times map and unmap, timed as a whole. */
enum bench_op { BENCH_MAP, BENCH_UNMAP, BENCH_REPLACE, BENCH_LOOP };
const char *bench_op_name(enum bench_op op);

/* One operation, from its first tick to its last. */
struct bench_sample {
	uint64_t begin, end;
};

struct bench_row {
	enum bench_op op;
	size_t n;
	size_t rounds;		/* of BENCH_LOOP, in one sample */
	size_t samples;
	struct bench_sample *sample;
	uint64_t median, min, max;	/* ticks */
	/* What the driver itself counted, in how many operations; 0: the stock one counts nothing. */
	size_t counted;
	uint64_t hypercalls, flushes;
};

#define BENCH_LEAST_SAMPLES 3

struct bench_plan {
	const size_t *sizes;
	size_t sizes_count;
	size_t repeat;
	/* A figure that took so long gets no more samples, once it has BENCH_LEAST_SAMPLES; 0: no limit. */
	uint64_t limit_ns;
	/* Not 0: only BENCH_LOOP is measured, with so many rounds. */
	size_t rounds;
	/* After each row; done of all. */
	void (*progress)(void *ctx, size_t done, size_t all);
	void *ctx;
};

struct bench_result {
	struct xcbatch_driver driver;
	struct bench_row *rows;
	size_t rows_count;
	double ticks_per_ns;
};

/*
 * Map and unmap as any program does them (libxenforeignmemory: mmap and
 * MMAPBATCH_V2, munmap), whatever the driver; replace where the driver can.
 */
int bench_run(struct bench_target *target, const struct bench_plan *plan, struct bench_result *out);
void bench_result_free(struct bench_result *result);

/* Sorts out the figures of a row from its samples. */
void bench_summarize(struct bench_row *row);

/* ---- where it is measured ------------------------------------------------------ */

struct bench_host {
	char dom0[16];		/* "pv", "pvh", or "unknown" */
	char kernel[65], xen[64], cpu[64];	/* as they name themselves; empty: they don't say */
};

void bench_host(struct bench_host *out);

/* ---- for libxenctrl and its like: print nothing ------------------------------ */

/* NULL only without memory; it lasts as long as the program. */
struct xentoollog_logger *bench_quiet(void);

#endif
