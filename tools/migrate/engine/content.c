// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/content.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/clock.h"
#include "guest/failure.h"
#include "stream/wire.h"

#define THREADS_DEFAULT 8

/* A range is one call of the guest's ops, and whole words of the bitmaps: no two threads meet in one. */
#define RANGE GUEST_BATCH
_Static_assert(RANGE % 64 == 0, "ranges share no word");

struct shared {
	struct content_scan *scan;
	uint64_t next_range;		/* claimed by adding */
	int rc;				/* the first error */
	const char *doing;		/* what failed */
};

struct lane {
	struct shared *shared;
	unsigned number;
	pthread_t thread;
	uint64_t looked;
	bool gone;
	size_t n;
	uint64_t gfns[RANGE];
	uint8_t types[RANGE];
	int errs[RANGE];
	char *copy;			/* one page */
};

unsigned content_threads(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus > THREADS_DEFAULT ? THREADS_DEFAULT : (unsigned)cpus;
}

/* ---- one range ---------------------------------------------------------- */

static int failed(struct lane *l, int rc, const char *doing)
{
	int none = 0;

	if (__atomic_compare_exchange_n(&l->shared->rc, &none, rc, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		__atomic_store_n(&l->shared->doing, doing, __ATOMIC_RELEASE);
	return rc;
}

static void gather(struct lane *l, uint64_t from)
{
	const struct content_scan *s = l->shared->scan;
	uint64_t to = from + RANGE < s->frames ? from + RANGE : s->frames;

	l->n = 0;
	for (uint64_t gfn = xcbatch_bitmap_next(s->map, to, from); gfn < to;
	     gfn = xcbatch_bitmap_next(s->map, to, gfn + 1))
		if (xcbatch_bitmap_test(s->ram, gfn))
			l->gfns[l->n++] = gfn;
}

/* Leaves those that have contents. */
static int ask_types(struct lane *l)
{
	const struct content_scan *s = l->shared->scan;
	size_t kept = 0;
	int rc;

	if (!s->guest->ops->normalise) {
		memset(l->types, XF_PAGE_NOTAB, l->n);
		return 0;
	}
	rc = s->guest->ops->types(s->guest, l->gfns, l->n, l->types);
	if (rc)
		return failed(l, rc, "Asking for the types of pages to compare");
	for (size_t i = 0; i < l->n; i++) {
		if (!xf_page_type_has_data(l->types[i])) {
			l->gone = true;
			continue;
		}
		l->gfns[kept] = l->gfns[i];
		l->types[kept++] = l->types[i];
	}
	l->n = kept;
	return 0;
}

/* As it would be sent. NULL: it can't be, now. */
static int as_sent(struct lane *l, size_t i, const char *page, const char **sent)
{
	struct guest *g = l->shared->scan->guest;
	int rc;

	*sent = page;
	if (l->types[i] == XF_PAGE_NOTAB || !g->ops->normalise)
		return 0;
	rc = g->ops->normalise(g, l->types[i], page, l->copy);
	*sent = rc ? NULL : l->copy;
	return rc == -EAGAIN || !rc ? 0 : failed(l, rc, "Putting page tables to be compared into the guest's frame numbers");
}

static int compare(struct lane *l, const char *base)
{
	const struct content_scan *s = l->shared->scan;

	for (size_t i = 0; i < l->n; i++) {
		const char *sent;
		int rc;

		if (l->errs[i]) {
			l->gone = true;
			continue;
		}
		rc = as_sent(l, i, base + i * GUEST_PAGE_SIZE, &sent);
		if (rc)
			return rc;
		if (sent && !xcbatch_content_would_differ(s->sent, l->gfns[i], l->types[i], sent))
			xcbatch_bitmap_clear(s->map, l->gfns[i]);
	}
	return 0;
}

static int look_at(struct lane *l, uint64_t from)
{
	struct guest *g = l->shared->scan->guest;
	void *base;
	int rc;

	gather(l, from);
	l->looked += l->n;
	rc = l->n ? ask_types(l) : 0;
	if (rc || !l->n)
		return rc;
	rc = g->ops->map_lane(g, l->number, l->gfns, l->n, l->errs, &base);
	if (rc)
		return failed(l, rc, "Mapping pages to compare");
	return compare(l, base);
}

/* ---- threads ------------------------------------------------------------ */

static void *work(void *data)
{
	struct lane *l = data;
	struct content_scan *s = l->shared->scan;
	uint64_t ranges = (s->frames + RANGE - 1) / RANGE, range;

	while (!__atomic_load_n(&l->shared->rc, __ATOMIC_ACQUIRE) &&
	       (range = __atomic_fetch_add(&l->shared->next_range, 1, __ATOMIC_RELAXED)) < ranges) {
		if (look_at(l, range * RANGE))
			break;
		/* Of the others it isn't known how far they are: about as far. */
		if (!l->number && l->n && s->report)
			report_progress(s->report, "Frames compared",
					l->looked * s->threads < s->of ? l->looked * s->threads : s->of, s->of);
	}
	return NULL;
}

/* The caller's signals are for the caller's thread. */
static unsigned start(struct lane *lanes, unsigned threads)
{
	sigset_t all, before;
	unsigned started = 1;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < threads && !pthread_create(&lanes[started].thread, NULL, work, &lanes[started]))
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/* With what threads there are: the caller's is one of them. */
static void run(struct content_scan *scan, struct lane *lanes)
{
	unsigned started = start(lanes, scan->threads);

	work(&lanes[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(lanes[i].thread, NULL);
}

int content_scan(struct content_scan *scan, struct xf_error *err)
{
	struct shared shared = { .scan = scan };
	double begun = clock_now();
	struct lane *lanes = calloc(scan->threads, sizeof(*lanes));
	char *copies = aligned_alloc(GUEST_PAGE_SIZE, scan->threads * (size_t)GUEST_PAGE_SIZE);

	scan->looked = 0;
	scan->gone = false;
	if (!lanes || !copies) {
		shared.rc = -ENOMEM;
		shared.doing = "Preparing to compare the memory";
	} else {
		for (unsigned i = 0; i < scan->threads; i++) {
			lanes[i].shared = &shared;
			lanes[i].number = i;
			lanes[i].copy = copies + i * (size_t)GUEST_PAGE_SIZE;
		}
		run(scan, lanes);
		for (unsigned i = 0; i < scan->threads; i++) {
			scan->looked += lanes[i].looked;
			scan->gone = scan->gone || lanes[i].gone;
		}
	}
	free(lanes);
	free(copies);
	scan->seconds = clock_now() - begun;
	return shared.rc ? failure(err, shared.rc, scan->guest, shared.doing) : 0;
}
