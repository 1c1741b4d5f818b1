/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simguest.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/wire.h"
#include "xcbatch.h"

static struct simguest *sim(struct guest *g)
{
	return (struct simguest *)g;
}

/* Some ops are called by several threads; the guest itself is one at a time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Whether this is the call that is to fail. */
static bool fails(struct guest *g, const char *op)
{
	struct simguest *s = sim(g);
	bool this_one;

	pthread_mutex_lock(&one_at_a_time);
	this_one = ++s->calls == s->fail_at;
	if (this_one)
		s->failed = op;
	pthread_mutex_unlock(&one_at_a_time);
	return this_one;
}

#define MAY_FAIL(g)					\
	do {						\
		if (fails(g, __func__))			\
			return sim(g)->fail_with;	\
	} while (0)

char *sim_page(const struct simguest *s, uint64_t gfn)
{
	assert_true(gfn < s->frames);
	return s->direct + gfn * GUEST_PAGE_SIZE;
}

void sim_write(struct simguest *s, uint64_t gfn, uint64_t value)
{
	assert_false(s->info.suspended);
	memcpy(sim_page(s, gfn) + value % 500 * 8, &value, sizeof(value));
	if (s->dirty && gfn < s->tracked)
		xcbatch_bitmap_set(s->dirty, gfn);
}

static uint64_t sim_random(struct simguest *s)
{
	s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
	return s->seed >> 33;
}

void sim_rewrite(struct simguest *s)
{
	for (uint64_t gfn = 0; gfn < s->frames * 3 / 4; gfn++)
		if (s->types[gfn] == XF_PAGE_NOTAB)
			sim_write(s, gfn, gfn * 7 + s->calls);
}

void sim_work(struct simguest *s)
{
	for (int i = 0; i < 20; i++) {
		uint64_t gfn = sim_random(s) % s->frames;

		if (s->types[gfn] == XF_PAGE_NOTAB)
			sim_write(s, gfn, sim_random(s));
	}
}

static void run(struct simguest *s)
{
	pthread_mutex_lock(&one_at_a_time);
	if (s->run && !s->info.suspended)
		s->run(s);
	pthread_mutex_unlock(&one_at_a_time);
}

/* ---- ops ---------------------------------------------------------------- */

static void sim_close(struct guest *g)
{
	(void)g;
}

static int sim_info(struct guest *g, struct guest_info *out)
{
	MAY_FAIL(g);
	*out = sim(g)->info;
	return 0;
}

static int sim_types(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_in_range(n, 1, GUEST_BATCH);
	__atomic_fetch_add(&s->asked, n, __ATOMIC_RELAXED);
	for (size_t i = 0; i < n; i++)
		types[i] = gfns[i] < s->frames ? s->types[gfns[i]] : XF_PAGE_XTAB;
	run(s);
	return 0;
}

static int can_map(struct simguest *s, uint64_t gfn)
{
	if (gfn == s->unmappable && s->unmappable_times) {
		s->unmappable_times--;
		return -EINVAL;
	}
	return gfn >= s->frames || !xf_page_type_has_data(s->types[gfn]) ? -EINVAL : 0;
}

/* Frames that follow each other in one call: mapping them singly is what would take the tests' time. */
static void map_run(struct simguest *s, char *window, size_t slot, uint64_t gfn, size_t n)
{
	int prot = s->writable && window == s->window ? PROT_READ | PROT_WRITE : PROT_READ;
	char *at = window + slot * GUEST_PAGE_SIZE;

	if (n)
		assert_ptr_equal(mmap(at, n * GUEST_PAGE_SIZE, prot, MAP_SHARED | MAP_FIXED, s->memory,
				      (off_t)(gfn * GUEST_PAGE_SIZE)), at);
}

/* Nothing there: what was mapped before must not be touched any more, nor what failed. */
static char *empty_window(char *at)
{
	int fixed = at ? MAP_FIXED : 0;
	char *window = mmap(at, (size_t)GUEST_BATCH * GUEST_PAGE_SIZE, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

	assert_ptr_not_equal(window, MAP_FAILED);
	return window;
}

static void map_all(struct simguest *s, char *window, const uint64_t *gfns, size_t n, int *errs)
{
	size_t run = 0;

	assert_in_range(n, 1, GUEST_BATCH);
	empty_window(window);
	for (size_t i = 0; i < n; i++) {
		errs[i] = can_map(s, gfns[i]);
		if (!errs[i] && run && gfns[i] == gfns[i - 1] + 1) {
			run++;
			continue;
		}
		map_run(s, window, i - run, run ? gfns[i - run] : 0, run);
		run = !errs[i];
	}
	map_run(s, window, n - run, run ? gfns[n - run] : 0, run);
}

static int sim_map(struct guest *g, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	MAY_FAIL(g);
	map_all(sim(g), sim(g)->window, gfns, n, errs);
	*base = sim(g)->window;
	return 0;
}

static int sim_map_lane(struct guest *g, unsigned lane, const uint64_t *gfns, size_t n, int *errs, void **base)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_in_range(lane, 0, GUEST_LANES - 1);
	if (!s->lanes[lane])
		s->lanes[lane] = empty_window(NULL);
	map_all(s, s->lanes[lane], gfns, n, errs);
	run(s);
	*base = s->lanes[lane];
	return 0;
}

static int sim_populate(struct guest *g, const uint64_t *gfns, size_t n)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_in_range(n, 1, GUEST_BATCH);
	if (n > s->host_pages || (s->refuse_above && s->populated + n > s->refuse_above))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (gfns[i] >= s->frames)
			return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(s->types[gfns[i]], XF_PAGE_XTAB);	/* never twice */
		s->types[gfns[i]] = XF_PAGE_NOTAB;
		if (s->dirty_memory)
			memset(sim_page(s, gfns[i]), 0xa5, 64);
	}
	s->host_pages -= n;
	s->populated += n;
	return 0;
}

static int sim_populate_piece(struct guest *g, uint64_t gfn, unsigned order)
{
	struct simguest *s = sim(g);
	uint64_t n = UINT64_C(1) << order;

	MAY_FAIL(g);
	assert_int_equal(gfn % n, 0);
	s->pieces_asked++;
	if (order > s->largest_piece || n > s->host_pages || gfn + n > s->frames)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(s->types[gfn + i], XF_PAGE_XTAB);
		s->types[gfn + i] = XF_PAGE_NOTAB;
		if (s->dirty_memory)
			memset(sim_page(s, gfn + i), 0xa5, 64);
	}
	s->host_pages -= n;
	s->pieces++;
	return 0;
}

static int sim_depopulate(struct guest *g, const uint64_t *gfns, size_t n)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_in_range(n, 1, GUEST_BATCH);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(s->types[gfns[i]], XF_PAGE_NOTAB);
		s->types[gfns[i]] = XF_PAGE_XTAB;
	}
	s->host_pages += n;
	s->given_back += n;
	return 0;
}

static int sim_held(struct guest *g, uint64_t *pages)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	*pages = s->uncounted;
	for (uint64_t i = 0; i < s->frames; i++)
		*pages += (uint64_t)xf_page_type_has_data(s->types[i]);
	return 0;
}

static int sim_throttle(struct guest *g, unsigned percent)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_true(s->guarded);
	if (s->no_throttle && percent < 100)
		return -EOPNOTSUPP;
	s->cap = percent;
	if (s->n_caps < SIM_CAPS)
		s->caps[s->n_caps++] = percent;
	return 0;
}

static int sim_host_free(struct guest *g, uint64_t *pages)
{
	MAY_FAIL(g);
	*pages = sim(g)->host_pages;
	return 0;
}

static int sim_guard_start(struct guest *g)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_false(s->guarded);
	s->guarded = true;
	s->starts++;
	return 0;
}

static int sim_dirty_start(struct guest *g, uint64_t frames)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_int_equal(frames, s->info.frames);
	assert_false(s->guarded);
	if (s->no_log_dirty)
		return -EOPNOTSUPP;
	s->guarded = true;
	s->tracked = frames;
	s->dirty = calloc(xcbatch_bitmap_words(frames), sizeof(*s->dirty));
	s->starts++;
	return 0;
}

static int sim_dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty)
{
	struct simguest *s = sim(g);
	size_t bytes = xcbatch_bitmap_words(s->tracked) * sizeof(*map);

	MAY_FAIL(g);
	assert_non_null(s->dirty);
	assert_int_equal(last, s->info.suspended);
	s->last_collected = last;
	memcpy(map, s->dirty, bytes);
	memset(s->dirty, 0, bytes);
	*dirty = xcbatch_bitmap_count(map, s->tracked);
	run(s);
	return 0;
}

static int sim_dirty_peek(struct guest *g, uint64_t *dirty)
{
	MAY_FAIL(g);
	*dirty = xcbatch_bitmap_count(sim(g)->dirty, sim(g)->tracked);
	return 0;
}

/* Off even where it says that it failed: what is checked is that it was asked. */
static int sim_dirty_stop(struct guest *g)
{
	struct simguest *s = sim(g);

	free(s->dirty);
	s->dirty = NULL;
	s->guarded = false;
	s->stops++;
	MAY_FAIL(g);
	return s->stop_fails;
}

static int sim_dirty_stop_later(struct guest *g)
{
	struct simguest *s = sim(g);

	MAY_FAIL(g);
	assert_true(s->info.suspended);
	free(s->dirty);
	s->dirty = NULL;
	s->guarded = false;
	s->stops++;
	s->stops_later++;
	return 0;
}

static int sim_param_get(struct guest *g, uint32_t index, uint64_t *value)
{
	MAY_FAIL(g);
	assert_true(index < SIM_PARAMS);
	*value = sim(g)->params[index];
	return 0;
}

static int sim_param_set(struct guest *g, uint32_t index, uint64_t value)
{
	MAY_FAIL(g);
	if (index >= SIM_PARAMS)
		return -EINVAL;
	sim(g)->params[index] = value;
	sim(g)->param_set[index] = true;
	return 0;
}

static int sim_tsc_get(struct guest *g, struct guest_tsc *out)
{
	MAY_FAIL(g);
	*out = sim(g)->tsc;
	return 0;
}

static int sim_tsc_set(struct guest *g, const struct guest_tsc *tsc)
{
	MAY_FAIL(g);
	sim(g)->tsc = *tsc;
	return 0;
}

static void copy_blob(struct guest_blob *to, const struct guest_blob *from)
{
	guest_blob_free(to);
	to->data = malloc(from->size ? from->size : 1);
	if (from->size)
		memcpy(to->data, from->data, from->size);
	to->size = from->size;
}

static int sim_context_get(struct guest *g, struct guest_blob *out)
{
	MAY_FAIL(g);
	*out = (struct guest_blob) { NULL, 0 };
	copy_blob(out, &sim(g)->context);
	return 0;
}

static int sim_context_set(struct guest *g, const struct guest_blob *context)
{
	MAY_FAIL(g);
	copy_blob(&sim(g)->context, context);
	return 0;
}

static int sim_policy_get(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs)
{
	*cpuid = *msrs = (struct guest_blob) { NULL, 0 };
	MAY_FAIL(g);
	copy_blob(cpuid, &sim(g)->cpuid);
	copy_blob(msrs, &sim(g)->msrs);
	return 0;
}

static int sim_policy_set(struct guest *g, const struct guest_blob *cpuid,
			  const struct guest_blob *msrs, char *why, size_t size)
{
	if (size)
		strncpy(why, "leaf 7", size);
	MAY_FAIL(g);
	copy_blob(&sim(g)->cpuid, cpuid);
	copy_blob(&sim(g)->msrs, msrs);
	return 0;
}

static int sim_grants_seed(struct guest *g, const struct guest_seed *seed)
{
	MAY_FAIL(g);
	sim(g)->seeded = *seed;
	sim(g)->is_seeded = true;
	return 0;
}

static const struct guest_ops sim_ops = {
	.close = sim_close,
	.info = sim_info,
	.types = sim_types,
	.map = sim_map,
	.map_lane = sim_map_lane,
	.populate = sim_populate,
	.populate_piece = sim_populate_piece,
	.depopulate = sim_depopulate,
	.held = sim_held,
	.host_free = sim_host_free,
	.guard_start = sim_guard_start,
	.dirty_start = sim_dirty_start,
	.dirty_collect = sim_dirty_collect,
	.dirty_peek = sim_dirty_peek,
	.dirty_stop = sim_dirty_stop,
	.dirty_stop_later = sim_dirty_stop_later,
	.throttle = sim_throttle,
	.param_get = sim_param_get,
	.param_set = sim_param_set,
	.tsc_get = sim_tsc_get,
	.tsc_set = sim_tsc_set,
	.context_get = sim_context_get,
	.context_set = sim_context_set,
	.policy_get = sim_policy_get,
	.policy_set = sim_policy_set,
	.grants_seed = sim_grants_seed,
};

/* ---- life --------------------------------------------------------------- */

void sim_init(struct simguest *s, uint64_t frames, bool writable)
{
	size_t size = frames * GUEST_PAGE_SIZE;

	*s = (struct simguest) {
		.base = { .ops = &sim_ops, .domid = 7 },
		.frames = frames,
		.writable = writable,
		.fail_with = -EIO,
		.host_pages = frames,
		.info = {
			.hvm = true, .frames = frames, .max_pages = frames,
			.xen_major = 4, .xen_minor = 17,
		},
		.seed = 1,
		.cap = 100,
	};
	s->memory = memfd_create("guest", 0);
	assert_true(s->memory >= 0);
	assert_int_equal(ftruncate(s->memory, (off_t)size), 0);
	s->direct = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
	assert_ptr_not_equal(s->direct, MAP_FAILED);
	s->window = empty_window(NULL);
	s->types = malloc(frames);
	assert_non_null(s->types);
	memset(s->types, XF_PAGE_XTAB, frames);
}

void sim_free(struct simguest *s)
{
	assert_null(s->dirty);
	assert_false(s->guarded);
	assert_int_equal(s->cap, 100);
	guest_blob_free(&s->context);
	guest_blob_free(&s->cpuid);
	guest_blob_free(&s->msrs);
	free(s->types);
	munmap(s->direct, s->frames * GUEST_PAGE_SIZE);
	munmap(s->window, (size_t)GUEST_BATCH * GUEST_PAGE_SIZE);
	for (unsigned i = 0; i < GUEST_LANES; i++)
		if (s->lanes[i])
			munmap(s->lanes[i], (size_t)GUEST_BATCH * GUEST_PAGE_SIZE);
	close(s->memory);
}

static void fill_blob(struct guest_blob *b, size_t size, int value)
{
	b->data = malloc(size);
	assert_non_null(b->data);
	memset(b->data, value, size);
	b->size = size;
}

/* Every fourth page stays zero. */
void sim_fill(struct simguest *s, uint64_t from, uint64_t to)
{
	for (uint64_t gfn = from; gfn < to; gfn++) {
		uint64_t word = gfn * 1000003 + 17;

		s->types[gfn] = XF_PAGE_NOTAB;
		for (size_t i = 0; gfn % 4 != 3 && i < GUEST_PAGE_SIZE; i += sizeof(word))
			memcpy(sim_page(s, gfn) + i, &word, sizeof(word));
	}
	if (s->context.data)
		return;
	fill_blob(&s->context, 1237, 0xc0);
	fill_blob(&s->cpuid, 5 * XF_CPUID_LEAF_SIZE, 0xc1);
	fill_blob(&s->msrs, 2 * XF_MSR_ENTRY_SIZE, 0xc2);
	s->tsc = (struct guest_tsc) { .mode = 2, .khz = 2400000, .incarnation = 3, .nsec = 123456789 };
}
