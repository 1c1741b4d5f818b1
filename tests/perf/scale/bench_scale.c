// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * bench-scale OUT: what a round of the engine costs by the size of the guest and by how much of it is dirty. The
 * engine's own loop runs (scan of the bitmap, batches, stream, collection, policy); behind it stands a guest all of
 * whose frames are one and the same page, and a stream into nowhere. So what is left is the engine.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xcbatch.h>

#include "engine/save_internal.h"

#define REPEAT 7

struct scale_guest {
	struct guest base;
	uint64_t frames;
	uint64_t *next;		/* what the next collection finds */
	char *window;
};

static struct scale_guest *scale(struct guest *g)
{
	return (struct scale_guest *)g;
}

static int no_types(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types)
{
	(void)g, (void)gfns;
	memset(types, 0, n);
	return 0;
}

static int no_map(struct guest *g, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	(void)gfns;
	memset(errs, 0, n * sizeof(*errs));
	*base = scale(g)->window;
	return 0;
}

static int held(struct guest *g, uint64_t *pages)
{
	*pages = scale(g)->frames;
	return 0;
}

/* As the tracker does it: the whole bitmap is copied, and counted. */
static int collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty)
{
	(void)last;
	memcpy(map, scale(g)->next, xcbatch_bitmap_words(scale(g)->frames) * sizeof(*map));
	*dirty = xcbatch_bitmap_count(map, scale(g)->frames);
	return 0;
}

static const struct guest_ops ops = {
	.types = no_types, .map = no_map, .held = held, .dirty_collect = collect,
};

static ssize_t swallow(struct xf_transport *t, const struct iovec *iov, int n)
{
	ssize_t sum = 0;

	(void)t;
	for (int i = 0; i < n; i++)
		sum += (ssize_t)iov[i].iov_len;
	return sum;
}

static const struct xf_transport_ops nowhere_ops = { .writev = swallow };

static void no_message(void *data, enum report_level level, const char *sentence)
{
	(void)data, (void)level, (void)sentence;
}

static void no_progress(void *data, const char *what, uint64_t done, uint64_t total)
{
	(void)data, (void)what, (void)done, (void)total;
}

static const struct report_ops quiet = { no_message, no_progress };

static void spread(uint64_t *map, uint64_t frames, uint64_t dirty)
{
	xcbatch_bitmap_zero(map, frames);
	for (uint64_t i = 0; i < dirty; i++)
		xcbatch_bitmap_set(map, i * (frames / dirty));
}

/* Processor time: what else the machine does must not count. */
static double used(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* One collection, one decision, one round of what was found: seconds. */
static double one_round(struct save *s)
{
	double begun = used();
	uint64_t dirty;

	if (save_collect(s, false, &dirty))
		exit(1);
	s->measured.dirty = (int64_t)dirty;
	s->measured.round = s->round;
	policy_decide(&s->measured, s->job->limits);
	if (save_live_round(s, dirty))
		exit(1);
	return used() - begun;
}

static double least(struct save *s)
{
	double best = one_round(s);

	for (int i = 1; i < REPEAT; i++) {
		double t = one_round(s);

		best = t < best ? t : best;
	}
	return best;
}

static void say(struct json_object *rows, uint64_t gib, uint64_t dirty, double seconds, double scan)
{
	struct json_object *row = json_object_new_object();
	double page_ns = dirty ? (seconds - scan) / (double)dirty * 1e9 : 0;

	printf("%6llu GiB %10llu %12.3f ms %12.3f ms", (unsigned long long)gib, (unsigned long long)dirty,
	       seconds * 1e3, scan * 1e3);
	if (dirty)
		printf(" %10.1f ns", page_ns);
	printf("\n");
	json_object_object_add(row, "gib", json_object_new_int64((int64_t)gib));
	json_object_object_add(row, "dirty_pages", json_object_new_int64((int64_t)dirty));
	json_object_object_add(row, "round_s", json_object_new_double(seconds));
	json_object_object_add(row, "scan_s", json_object_new_double(scan));
	if (dirty)
		json_object_object_add(row, "page_ns", json_object_new_double(page_ns));
	json_object_array_add(rows, row);
}

static void measure(struct json_object *rows, uint64_t gib)
{
	static const uint64_t some[] = { 1024, 16384, 262144 };
	struct scale_guest g = { .base = { .ops = &ops, .domid = 1 }, .frames = gib << 18 };
	size_t words = xcbatch_bitmap_words(g.frames);
	const struct report report = { &quiet, NULL };
	struct xf_transport out = { .ops = &nowhere_ops };
	struct stats stats = { .fd = -1 };
	const struct save_hooks hooks = { .policy = NULL };
	const struct save_job job = {
		.guest = &g.base, .out = &out, .hooks = &hooks, .limits = &policy_default_limits,
		.report = &report, .stats = &stats, .live = true,
	};
	struct xf_error err = { .code = 0 };
	struct save s = { .job = &job, .guest = &g.base, .err = &err, .info = { .frames = g.frames },
			  .tracking = true, .held = g.frames, .measured = { .cap = 100 } };
	double scan;

	g.window = calloc(GUEST_BATCH, GUEST_PAGE_SIZE);
	g.next = calloc(words, sizeof(uint64_t));
	s.dirty = calloc(words, sizeof(uint64_t));
	s.deferred = calloc(words, sizeof(uint64_t));
	s.batch = calloc(1, sizeof(*s.batch));
	if (!g.window || !g.next || !s.dirty || !s.deferred || !s.batch ||
	    !(s.batch->ram = calloc(words, sizeof(uint64_t))) ||
	    xf_writer_open(&s.writer, &out, XF_VERSION_MAX, XF_STREAM_PLAIN) ||
	    xf_writer_headers(s.writer, XF_GUEST_X86_HVM, 4, 17) ||
	    xf_writer_blob(s.writer, XF_REC_STATIC_DATA_END, NULL, 0)) {
		fprintf(stderr, "bench-scale: no memory for a guest of %llu GiB\n", (unsigned long long)gib);
		exit(1);
	}
	s.batch->guest = &g.base;
	s.batch->writer = s.writer;
	s.batch->out = &out;
	s.batch->deferred = s.deferred;
	s.batch->running = true;
	xcbatch_bitmap_fill(s.batch->ram, g.frames);

	scan = least(&s);
	say(rows, gib, 0, scan, scan);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		spread(g.next, g.frames, some[i]);
		say(rows, gib, some[i], least(&s), scan);
	}
	xf_writer_close(s.writer);
	free(s.batch->ram);
	free(s.batch);
	free(s.deferred);
	free(s.dirty);
	free(g.next);
	free(g.window);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = { 16, 256, 4096 };
	struct json_object *all = json_object_new_object(), *rows = json_object_new_array();

	if (argc != 2) {
		fprintf(stderr, "usage: bench-scale OUT\n");
		return 2;
	}
	printf("%10s %10s %15s %15s %13s\n", "guest", "dirty", "round", "of it scan", "a dirty page");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		measure(rows, sizes[i]);
	json_object_object_add(all, "rows", rows);
	if (json_object_to_file_ext(argv[1], all, JSON_C_TO_STRING_PRETTY)) {
		fprintf(stderr, "bench-scale: %s can't be written\n", argv[1]);
		return 1;
	}
	json_object_put(all);
	printf("processor time, the least of %d; written to %s\n", REPEAT, argv[1]);
	return 0;
}
