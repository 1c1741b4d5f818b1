/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "simpv.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/wire.h"
#include "xcbatch.h"

#define PAGE	 GUEST_PAGE_SIZE
#define SPARE	 1500u		/* frames of the machine that are nobody's */
#define SHARED_M2P (UINT64_MAX - 1)

static struct simpv *sim(struct guest *g)
{
	return (struct simpv *)g;
}

static int enter(struct guest *g, const char *op)
{
	struct simpv *s = sim(g);

	pthread_mutex_lock(&s->lock);
	if (++s->calls != s->fail_at)
		return 0;
	s->failed = op;
	pthread_mutex_unlock(&s->lock);
	return s->fail_with;
}

/* The guest goes on as long as the call took. */
static int leave(struct guest *g, int rc)
{
	struct simpv *s = sim(g);

	if (s->run && !s->info.suspended && s->runs++ >= s->calm)
		s->run(s);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

#define ENTER(g)				\
	do {					\
		int rc_ = enter(g, __func__);	\
		if (rc_)			\
			return rc_;		\
	} while (0)

uint64_t simpv_random(struct simpv *s)
{
	s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
	return s->seed >> 33;
}

/* ---- frames ------------------------------------------------------------- */

char *simpv_frame_at(const struct simpv *s, uint64_t mfn)
{
	assert_true(mfn < s->mfns);
	return s->direct + mfn * PAGE;
}

char *simpv_page(const struct simpv *s, uint64_t pfn)
{
	assert_true(pfn < s->pfns);
	return simpv_frame_at(s, s->mfn[pfn]);
}

shared_info_t *simpv_shared(const struct simpv *s)
{
	return (shared_info_t *)simpv_frame_at(s, s->shared_mfn);
}

vcpu_guest_context_t *simpv_registers(struct simpv *s, unsigned vcpu)
{
	return s->vcpu[vcpu].parts[GUEST_VCPU_BASIC].data;
}

void simpv_dirty(struct simpv *s, uint64_t pfn)
{
	if (s->dirty && pfn < s->tracked)
		xcbatch_bitmap_set(s->dirty, pfn);
}

uint64_t simpv_take_frame(struct simpv *s, uint64_t pfn)
{
	uint64_t at, mfn;

	if (!s->n_free || s->held >= s->held_limit)
		return SIMPV_NONE;
	s->held++;
	at = simpv_random(s) % s->n_free;
	mfn = s->stock[at];
	s->stock[at] = s->stock[--s->n_free];
	s->frame[mfn] = (struct simpv_frame) { .owner = SIMPV_GUEST };
	memset(simpv_frame_at(s, mfn), 0, PAGE);
	s->m2p[mfn] = pfn;
	s->mfn[pfn] = mfn;
	return mfn;
}

void simpv_maybe_release(struct simpv *s, uint64_t mfn)
{
	struct simpv_frame *f = &s->frame[mfn];

	if (!f->doomed || f->uses || f->refs)
		return;
	*f = (struct simpv_frame) { .owner = SIMPV_FREE };
	s->held--;
	s->m2p[mfn] = SIMPV_NONE;
	s->stock[s->n_free++] = mfn;
}

/* Its M2P entry stays until the last use is over, as in Xen. */
void simpv_give_frame(struct simpv *s, uint64_t mfn)
{
	uint64_t pfn = s->m2p[mfn];

	assert_int_equal(s->frame[mfn].owner, SIMPV_GUEST);
	assert_false(s->frame[mfn].doomed);
	if (pfn < s->pfns && s->mfn[pfn] == mfn)
		s->mfn[pfn] = SIMPV_NONE;
	s->frame[mfn].doomed = true;
	simpv_maybe_release(s, mfn);
}

/* ---- mapping ------------------------------------------------------------ */

static int use(struct simpv *s, uint64_t mfn, bool writable)
{
	if (mfn == s->shared_mfn)
		return 0;
	if (mfn >= s->mfns || s->frame[mfn].owner != SIMPV_GUEST || s->frame[mfn].doomed)
		return -EINVAL;
	if (writable)
		return simpv_get_type(s, mfn, SIMPV_WRITABLE);
	s->frame[mfn].refs++;
	return 0;
}

static void unuse(struct simpv *s, uint64_t mfn, bool writable)
{
	if (mfn == s->shared_mfn)
		return;
	if (writable) {
		simpv_put_type(s, mfn);
		return;
	}
	s->frame[mfn].refs--;
	simpv_maybe_release(s, mfn);
}

static void map_frame(struct simpv *s, char *at, uint64_t mfn, bool writable)
{
	int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;

	assert_ptr_equal(mmap(at, PAGE, prot, MAP_SHARED | MAP_FIXED, s->memory, (off_t)(mfn * PAGE)), at);
}

static char *empty(char *at, size_t n)
{
	char *base = mmap(at, n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	assert_ptr_not_equal(base, MAP_FAILED);
	return base;
}

static void empty_window(struct simpv *s)
{
	for (size_t i = 0; i < s->window_n; i++)
		if (s->window_mfns[i] != SIMPV_NONE)
			unuse(s, s->window_mfns[i], s->writable);
	s->window_n = 0;
	empty(s->window, GUEST_BATCH);
}

static int simpv_map(struct guest *g, const uint64_t *mfns, size_t n, int *errs, void **base)
{
	struct simpv *s = sim(g);

	ENTER(g);
	assert_in_range(n, 1, GUEST_BATCH);
	empty_window(s);
	for (size_t i = 0; i < n; i++) {
		errs[i] = use(s, mfns[i], s->writable);
		s->window_mfns[i] = errs[i] ? SIMPV_NONE : mfns[i];
		if (!errs[i])
			map_frame(s, s->window + i * PAGE, mfns[i], s->writable);
	}
	s->window_n = n;
	*base = s->window;
	return leave(g, 0);
}

/* For reading only; what stays mapped there is not counted. */
static int simpv_map_lane(struct guest *g, unsigned lane, const uint64_t *mfns, size_t n, int *errs,
			  void **base)
{
	struct simpv *s = sim(g);

	ENTER(g);
	assert_in_range(n, 1, GUEST_BATCH);
	assert_in_range(lane, 0, GUEST_LANES - 1);
	s->lanes[lane] = empty(s->lanes[lane], GUEST_BATCH);
	for (size_t i = 0; i < n; i++) {
		errs[i] = use(s, mfns[i], false);
		if (errs[i])
			continue;
		unuse(s, mfns[i], false);
		map_frame(s, s->lanes[lane] + i * PAGE, mfns[i], false);
	}
	*base = s->lanes[lane];
	return leave(g, 0);
}

static int simpv_view(struct guest *g, const uint64_t *mfns, size_t n, bool writable, void **base)
{
	struct simpv *s = sim(g);
	struct simpv_view *v = s->views;
	size_t i;
	int rc = 0;

	ENTER(g);
	assert_true(n > 0);
	for (; v->base; v++)
		assert_true(v < s->views + SIMPV_VIEWS - 1);
	for (i = 0; !rc && i < n; i += !rc)
		rc = use(s, mfns[i], writable);
	if (rc) {
		while (i-- > 0)
			unuse(s, mfns[i], writable);
		return leave(g, rc);
	}
	*v = (struct simpv_view) { empty(NULL, n), malloc(n * sizeof(*mfns)), n, writable };
	assert_non_null(v->mfns);
	memcpy(v->mfns, mfns, n * sizeof(*mfns));
	for (i = 0; i < n; i++)
		map_frame(s, v->base + i * PAGE, mfns[i], writable);
	*base = v->base;
	return leave(g, 0);
}

static void simpv_unview(struct guest *g, void *base, size_t n)
{
	struct simpv *s = sim(g);
	struct simpv_view *v = s->views;

	pthread_mutex_lock(&s->lock);
	for (; v->base != base; v++)
		assert_true(v < s->views + SIMPV_VIEWS - 1);
	assert_int_equal(v->n, n);
	for (size_t i = 0; i < n; i++)
		unuse(s, v->mfns[i], v->writable);
	munmap(v->base, n * PAGE);
	free(v->mfns);
	*v = (struct simpv_view) { NULL, NULL, 0, false };
	leave(g, 0);
}

static int simpv_unmap(struct guest *g)
{
	ENTER(g);
	empty_window(sim(g));
	return leave(g, 0);
}

/* ---- memory ------------------------------------------------------------- */

uint8_t simpv_type(const struct simpv *s, uint64_t mfn)
{
	const struct simpv_frame *f = &s->frame[mfn];

	if (mfn >= s->mfns || f->owner != SIMPV_GUEST || f->doomed)
		return XF_PAGE_XTAB;
	/* As in Xen: what it was last, also when nobody uses it as that any more. */
	return f->type >= 1 && f->type <= 4 ? f->type | (f->pinned ? XF_PAGE_PINNED : 0) : XF_PAGE_NOTAB;
}

static int simpv_types(struct guest *g, const uint64_t *mfns, size_t n, uint8_t *types)
{
	ENTER(g);
	assert_in_range(n, 1, GUEST_BATCH);
	for (size_t i = 0; i < n; i++)
		types[i] = simpv_type(sim(g), mfns[i]);
	return leave(g, 0);
}

static int simpv_populate(struct guest *g, const uint64_t *pfns, size_t n, uint64_t *mfns)
{
	struct simpv *s = sim(g);

	ENTER(g);
	assert_in_range(n, 1, GUEST_BATCH);
	if (s->held + n > s->held_limit || n > s->n_free)
		return leave(g, -ENOMEM);
	for (size_t i = 0; i < n; i++) {
		if (pfns[i] >= s->pfns)
			return leave(g, -EINVAL);
		assert_int_equal(s->mfn[pfns[i]], SIMPV_NONE);	/* never twice */
		mfns[i] = simpv_take_frame(s, pfns[i]);
	}
	return leave(g, 0);
}

static int simpv_depopulate(struct guest *g, const uint64_t *mfns, size_t n)
{
	struct simpv *s = sim(g);

	ENTER(g);
	assert_in_range(n, 1, GUEST_BATCH);
	for (size_t i = 0; i < n; i++) {
		if (mfns[i] >= s->mfns || s->frame[mfns[i]].owner != SIMPV_GUEST)
			return leave(g, -EINVAL);
		simpv_give_frame(s, mfns[i]);
	}
	return leave(g, 0);
}

static int simpv_held_pages(struct guest *g, uint64_t *pages)
{
	ENTER(g);
	*pages = sim(g)->held;
	return leave(g, 0);
}

static int simpv_host_free(struct guest *g, uint64_t *pages)
{
	ENTER(g);
	*pages = sim(g)->n_free;
	return leave(g, 0);
}

static int no_frames(struct guest *g, const uint64_t *pfns, size_t n)
{
	(void)g, (void)pfns, (void)n;
	fail_msg("a PV guest's backend populates by its PV op");
	return -EOPNOTSUPP;
}

static int no_piece(struct guest *g, uint64_t pfn, unsigned order)
{
	(void)g, (void)pfn, (void)order;
	fail_msg("no large pieces for a PV guest");
	return -EOPNOTSUPP;
}

/* ---- log-dirty ---------------------------------------------------------- */

static int simpv_guard_start(struct guest *g)
{
	ENTER(g);
	assert_false(sim(g)->guarded);
	sim(g)->guarded = true;
	sim(g)->starts++;
	return leave(g, 0);
}

static int simpv_dirty_start(struct guest *g, uint64_t frames)
{
	struct simpv *s = sim(g);

	ENTER(g);
	assert_false(s->guarded);
	if (s->no_log_dirty)
		return leave(g, -EOPNOTSUPP);
	s->guarded = true;
	s->tracked = frames;
	s->dirty = calloc(xcbatch_bitmap_words(frames), sizeof(*s->dirty));
	s->starts++;
	return leave(g, 0);
}

static int simpv_dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty)
{
	struct simpv *s = sim(g);
	size_t bytes = xcbatch_bitmap_words(s->tracked) * sizeof(*map);

	ENTER(g);
	assert_non_null(s->dirty);
	assert_int_equal(last, s->info.suspended);
	s->last_collected = last;
	memcpy(map, s->dirty, bytes);
	memset(s->dirty, 0, bytes);
	*dirty = xcbatch_bitmap_count(map, s->tracked);
	return leave(g, 0);
}

static int simpv_dirty_peek(struct guest *g, uint64_t *dirty)
{
	ENTER(g);
	*dirty = xcbatch_bitmap_count(sim(g)->dirty, sim(g)->tracked);
	return leave(g, 0);
}

static int simpv_dirty_stop(struct guest *g)
{
	struct simpv *s = sim(g);

	free(s->dirty);
	s->dirty = NULL;
	s->guarded = false;
	s->stops++;
	ENTER(g);
	return leave(g, 0);
}

static int simpv_throttle(struct guest *g, unsigned percent)
{
	ENTER(g);
	assert_true(sim(g)->guarded);
	sim(g)->cap = percent;
	return leave(g, 0);
}

/* ---- state -------------------------------------------------------------- */

static int simpv_info(struct guest *g, struct guest_info *out)
{
	struct simpv *s = sim(g);

	ENTER(g);
	*out = s->info;
	out->frames = simpv_shared(s)->arch.max_pfn ? simpv_shared(s)->arch.max_pfn : 1;
	return leave(g, 0);
}

static int simpv_pv_info(struct guest *g, struct guest_pv_info *out)
{
	struct simpv *s = sim(g);

	ENTER(g);
	*out = (struct guest_pv_info) { s->width, s->vcpus, s->shared_mfn };
	return leave(g, 0);
}

static int simpv_m2p(struct guest *g, const uint64_t **m2p, uint64_t *frames)
{
	ENTER(g);
	*m2p = sim(g)->m2p;
	*frames = sim(g)->mfns;
	return leave(g, 0);
}

static int no_param_get(struct guest *g, uint32_t index, uint64_t *value)
{
	(void)g, (void)index, (void)value;
	fail_msg("a PV guest has no HVM parameters");
	return -EINVAL;
}

static int no_param_set(struct guest *g, uint32_t index, uint64_t value)
{
	(void)g, (void)index, (void)value;
	fail_msg("a PV guest has no HVM parameters");
	return -EINVAL;
}

static int simpv_tsc_get(struct guest *g, struct guest_tsc *out)
{
	ENTER(g);
	*out = sim(g)->tsc;
	return leave(g, 0);
}

static int simpv_tsc_set(struct guest *g, const struct guest_tsc *tsc)
{
	ENTER(g);
	sim(g)->tsc = *tsc;
	sim(g)->tsc_is_set = true;
	return leave(g, 0);
}

static int no_context_get(struct guest *g, struct guest_blob *out)
{
	(void)g, (void)out;
	fail_msg("a PV guest has no HVM context");
	return -EINVAL;
}

static int no_context_set(struct guest *g, const struct guest_blob *context)
{
	(void)g, (void)context;
	fail_msg("a PV guest has no HVM context");
	return -EINVAL;
}

static void copy_blob(struct guest_blob *to, const struct guest_blob *from)
{
	guest_blob_free(to);
	*to = (struct guest_blob) { malloc(from->size ? from->size : 1), from->size };
	assert_non_null(to->data);
	if (from->size)
		memcpy(to->data, from->data, from->size);
}

static int simpv_policy_get(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs)
{
	*cpuid = *msrs = (struct guest_blob) { NULL, 0 };
	ENTER(g);
	copy_blob(cpuid, &sim(g)->cpuid);
	copy_blob(msrs, &sim(g)->msrs);
	return leave(g, 0);
}

static int simpv_policy_set(struct guest *g, const struct guest_blob *cpuid, const struct guest_blob *msrs,
			    char *why, size_t size)
{
	if (size)
		*why = '\0';
	ENTER(g);
	copy_blob(&sim(g)->cpuid, cpuid);
	copy_blob(&sim(g)->msrs, msrs);
	return leave(g, 0);
}

static int simpv_grants_seed(struct guest *g, const struct guest_seed *seed)
{
	struct simpv *s = sim(g);

	ENTER(g);
	if (simpv_type(s, seed->console_gfn) != XF_PAGE_NOTAB || simpv_type(s, seed->store_gfn) != XF_PAGE_NOTAB)
		return leave(g, -EINVAL);
	s->seeded = *seed;
	s->is_seeded = true;
	return leave(g, 0);
}

static int no_grants_seed(struct guest *g, const struct guest_seed *seed)
{
	(void)g, (void)seed;
	fail_msg("a PV guest's backend seeds by its PV op");
	return -EOPNOTSUPP;
}

static int simpv_pin_op(struct guest *g, const uint64_t *mfns, const uint8_t *types, size_t n)
{
	int rc = 0;

	ENTER(g);
	assert_in_range(n, 1, GUEST_BATCH);
	for (size_t i = 0; i < n; i++) {
		int one = simpv_pin(sim(g), mfns[i], types[i]);

		rc = rc ? rc : one;
	}
	return leave(g, rc);
}

/* ---- vCPUs -------------------------------------------------------------- */

static int simpv_vcpu_online(struct guest *g, unsigned vcpu, bool *online)
{
	ENTER(g);
	assert_true(vcpu < sim(g)->vcpus);
	*online = sim(g)->vcpu[vcpu].online;
	return leave(g, 0);
}

static int simpv_vcpu_get(struct guest *g, unsigned vcpu, enum guest_vcpu_part part, struct guest_blob *out)
{
	*out = (struct guest_blob) { NULL, 0 };
	ENTER(g);
	assert_true(vcpu < sim(g)->vcpus && part < GUEST_VCPU_PARTS);
	assert_true(sim(g)->info.suspended);
	copy_blob(out, &sim(g)->vcpu[vcpu].parts[part]);
	return leave(g, 0);
}

/* Frames in registers: which, and what they have to be. */
static size_t in_registers(const vcpu_guest_context_t *v, uint64_t *mfns, unsigned *types)
{
	size_t n = 0;

	for (; n < (v->gdt_ents + 511) / 512; n++) {
		mfns[n] = v->gdt_frames[n];
		types[n] = SIMPV_SEGMENTS;
	}
	mfns[n] = v->ctrlreg[3] >> 12;
	types[n++] = 4;
	if (v->ctrlreg[1]) {
		mfns[n] = v->ctrlreg[1] >> 12;
		types[n++] = 4;
	}
	return n;
}

int simpv_take_registers(struct simpv *s, const vcpu_guest_context_t *v)
{
	uint64_t mfns[18];
	unsigned types[18];
	size_t n, i;
	int rc = 0;

	if (v->gdt_ents > 14 * 512)
		return -EINVAL;
	n = in_registers(v, mfns, types);
	for (i = 0; !rc && i < n; i += !rc)
		rc = simpv_get_type(s, mfns[i], types[i]);
	while (rc && i-- > 0)
		simpv_put_type(s, mfns[i]);
	return rc;
}

static void give_registers(struct simpv *s, const vcpu_guest_context_t *v)
{
	uint64_t mfns[18];
	unsigned types[18];
	size_t n = in_registers(v, mfns, types);

	while (n-- > 0)
		simpv_put_type(s, mfns[n]);
}

static int simpv_vcpu_set(struct guest *g, unsigned vcpu, enum guest_vcpu_part part,
			  const struct guest_blob *in)
{
	struct simpv *s = sim(g);
	struct simpv_vcpu *v = &s->vcpu[vcpu];
	int rc = 0;

	ENTER(g);
	assert_true(part < GUEST_VCPU_PARTS);
	if (vcpu >= s->vcpus)
		return leave(g, -EINVAL);
	switch (part) {
	case GUEST_VCPU_BASIC:
		rc = in->size != sizeof(vcpu_guest_context_t) || v->set ? -EINVAL : simpv_take_registers(s, in->data);
		break;
	case GUEST_VCPU_EXTENDED:
		rc = in->size != SIMPV_EXT ? -EINVAL : 0;
		break;
	case GUEST_VCPU_MSRS:
		rc = in->size % XF_PV_VCPU_MSR_SIZE ? -EINVAL : 0;
		break;
	default:
		break;
	}
	if (rc)
		return leave(g, rc);
	copy_blob(&v->parts[part], in);
	if (part == GUEST_VCPU_BASIC) {
		v->set = true;
		v->online = simpv_registers(s, vcpu)->flags & VGCF_online;
	}
	v->order = v->order * 10 + part + 1;
	return leave(g, 0);
}

static void simpv_close(struct guest *g)
{
	(void)g;
}

static const struct guest_pv_ops pv_ops = {
	.info = simpv_pv_info,
	.m2p = simpv_m2p,
	.view = simpv_view,
	.unview = simpv_unview,
	.unmap = simpv_unmap,
	.populate = simpv_populate,
	.pin = simpv_pin_op,
	.vcpu_online = simpv_vcpu_online,
	.vcpu_get = simpv_vcpu_get,
	.vcpu_set = simpv_vcpu_set,
	.grants_seed = simpv_grants_seed,
};

static const struct guest_ops ops = {
	.close = simpv_close,
	.info = simpv_info,
	.types = simpv_types,
	.map = simpv_map,
	.map_lane = simpv_map_lane,
	.populate = no_frames,
	.populate_piece = no_piece,
	.depopulate = simpv_depopulate,
	.held = simpv_held_pages,
	.host_free = simpv_host_free,
	.guard_start = simpv_guard_start,
	.dirty_start = simpv_dirty_start,
	.dirty_collect = simpv_dirty_collect,
	.dirty_peek = simpv_dirty_peek,
	.dirty_stop = simpv_dirty_stop,
	.throttle = simpv_throttle,
	.param_get = no_param_get,
	.param_set = no_param_set,
	.tsc_get = simpv_tsc_get,
	.tsc_set = simpv_tsc_set,
	.context_get = no_context_get,
	.context_set = no_context_set,
	.policy_get = simpv_policy_get,
	.policy_set = simpv_policy_set,
	.grants_seed = no_grants_seed,
	.pv = &pv_ops,
};

/* ---- life --------------------------------------------------------------- */

/* Every tenth frame is another domain's, the last one ours to share with Xen. */
static void make_machine(struct simpv *s)
{
	s->frame = calloc(s->mfns, sizeof(*s->frame));
	s->m2p = malloc(s->mfns * sizeof(*s->m2p));
	s->stock = malloc(s->mfns * sizeof(*s->stock));
	assert_true(s->frame && s->m2p && s->stock);
	for (uint64_t i = 0; i < s->mfns; i++) {
		s->m2p[i] = i % 10 ? SIMPV_NONE : i / 10;
		s->frame[i].owner = i % 10 ? SIMPV_FREE : SIMPV_OTHER;
		if (i % 10)
			s->stock[s->n_free++] = i;
	}
	s->shared_mfn = s->stock[--s->n_free];
	s->frame[s->shared_mfn].owner = SIMPV_XEN;
	s->m2p[s->shared_mfn] = SHARED_M2P;
}

void simpv_init(struct simpv *s, uint64_t pfns, uint64_t max_pages, unsigned vcpus, bool writable)
{
	*s = (struct simpv) {
		.base = { .ops = &ops, .domid = 7 },
		.pfns = pfns,
		.mfns = (max_pages + SPARE) * 10 / 9 + 20,
		.writable = writable,
		.width = 8,
		.vcpus = vcpus,
		.fail_with = -EIO,
		.cap = 100,
		.seed = 1,
		.held_limit = max_pages,
		.info = { .max_pages = max_pages, .xen_major = 4, .xen_minor = 17 },
	};
	pthread_mutex_init(&s->lock, NULL);
	s->memory = memfd_create("machine", 0);
	assert_true(s->memory >= 0);
	assert_int_equal(ftruncate(s->memory, (off_t)(s->mfns * PAGE)), 0);
	s->direct = mmap(NULL, s->mfns * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
	assert_ptr_not_equal(s->direct, MAP_FAILED);
	s->window = empty(NULL, GUEST_BATCH);
	s->mfn = malloc(pfns * sizeof(*s->mfn));
	assert_non_null(s->mfn);
	memset(s->mfn, 0xff, pfns * sizeof(*s->mfn));
	make_machine(s);
}

void simpv_expect_quiet(const struct simpv *s)
{
	assert_null(s->dirty);
	assert_false(s->guarded);
	assert_int_equal(s->starts, s->stops);
	assert_int_equal(s->cap, 100);
	for (int i = 0; i < SIMPV_VIEWS; i++)
		assert_null(s->views[i].base);
}

/* The domain is destroyed: what is still in use then is used by somebody else. */
static void destroy_domain(struct simpv *s)
{
	empty_window(s);
	for (unsigned v = 0; v < s->vcpus; v++)
		if (s->vcpu[v].set)
			give_registers(s, simpv_registers(s, v));
	for (uint64_t i = 0; i < s->mfns; i++)
		if (s->frame[i].pinned)
			simpv_unpin(s, i);
	for (uint64_t i = 0; i < s->mfns; i++) {
		assert_int_equal(s->frame[i].uses, 0);
		assert_int_equal(s->frame[i].refs, 0);
		assert_false(s->frame[i].doomed);
	}
}

void simpv_free(struct simpv *s)
{
	simpv_expect_quiet(s);
	destroy_domain(s);
	for (unsigned v = 0; v < SIMPV_VCPUS; v++)
		for (int i = 0; i < GUEST_VCPU_PARTS; i++)
			guest_blob_free(&s->vcpu[v].parts[i]);
	guest_blob_free(&s->cpuid);
	guest_blob_free(&s->msrs);
	munmap(s->direct, s->mfns * PAGE);
	munmap(s->window, (size_t)GUEST_BATCH * PAGE);
	for (unsigned i = 0; i < GUEST_LANES; i++)
		if (s->lanes[i])
			munmap(s->lanes[i], (size_t)GUEST_BATCH * PAGE);
	free(s->leaf);
	free(s->mfn);
	free(s->stock);
	free(s->m2p);
	free(s->frame);
	close(s->memory);
	pthread_mutex_destroy(&s->lock);
}
