/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guest inside: a kernel that maps all its memory (tables read-only), its
 * P2M, and a page of fixed places in which the shared info page lies; and
 * processes that come and go.
 */
#include "simpv.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stream/wire.h"

#define N   SIMPV_ENTRIES
#define RO  (SIMPV_PRESENT | 0x8000000000000060)
#define RW  (RO | SIMPV_RW)
#define TAB (SIMPV_PRESENT | SIMPV_RW | 0x64)

/* Slots of an L4. */
#define USER_SLOT   0
#define DIRECT_SLOT 273
#define FIX_SLOT    288
#define P2M_SLOT    402
#define P2M_VADDR   (UINT64_C(0xffff000000000000) | (uint64_t)P2M_SLOT << 39)
#define FIX_SHARED  7		/* entry of the fixed places' L1 */

/* Where things lie, in pfns. */
#define START_INFO 1
#define STORE	   2
#define CONSOLE	   3
#define GDT	   4		/* one for each vCPU */
#define LEAVES	   16

#define POOL 64			/* pages for tables made later */

static uint64_t *words(const struct simpv *s, uint64_t pfn)
{
	return (uint64_t *)simpv_page(s, pfn);
}

static uint64_t entry_for(const struct simpv *s, uint64_t pfn, uint64_t flags)
{
	return s->mfn[pfn] << 12 | flags;
}

uint64_t *simpv_p2m(const struct simpv *s, uint64_t pfn)
{
	return words(s, s->leaf[pfn / N]) + pfn % N;
}

static void p2m_set(struct simpv *s, uint64_t pfn, uint64_t mfn)
{
	assert_int_not_equal(s->leaf[pfn / N], s->missing);
	__atomic_store_n(simpv_p2m(s, pfn), mfn, __ATOMIC_RELAXED);
	simpv_dirty(s, s->leaf[pfn / N]);
}

void simpv_write(struct simpv *s, uint64_t pfn, uint64_t value)
{
	assert_false(s->info.suspended);
	assert_int_equal(simpv_type(s, s->mfn[pfn]), XF_PAGE_NOTAB);
	__atomic_store_n(&words(s, pfn)[value % N], value, __ATOMIC_RELAXED);
	simpv_dirty(s, pfn);
}

/* The kernel's own mapping of a page; 0: none. */
static int map_direct(struct simpv *s, uint64_t pfn, uint64_t flags)
{
	return simpv_update(s, s->mfn[s->direct_l1_first + pfn / N], pfn % N,
			    flags ? entry_for(s, pfn, flags) : 0);
}

/* ---- boot: where everything lies ---------------------------------------- */

static uint64_t direct_pages(const struct simpv *s)
{
	return (s->high + 1024 + N - 1) / N;
}

/* The next n pfns with memory that nothing has yet. */
static uint64_t take(struct simpv *s, uint64_t n)
{
	uint64_t first = s->pool_next;

	s->pool_next += n;
	assert_true(s->pool_next < s->high);
	return first;
}

static void place(struct simpv *s, const struct simpv_shape *shape)
{
	uint64_t real = (shape->pages + N - 1) / N;

	s->max_pfn = shape->max_pfn ? shape->max_pfn : shape->pages;
	s->high = shape->pages;
	s->pool_next = LEAVES;
	s->n_leaf = (s->max_pfn + N - 1) / N;
	s->leaf = malloc(s->n_leaf * sizeof(*s->leaf));
	assert_non_null(s->leaf);
	for (uint64_t i = 0; i < real; i++)
		s->leaf[i] = take(s, 1);
	s->missing = take(s, 1);
	for (uint64_t i = real; i < s->n_leaf; i++)
		s->leaf[i] = s->missing;
	s->direct_l1_first = take(s, direct_pages(s));
}

static void fill_p2m(struct simpv *s)
{
	for (uint64_t i = 0; i < s->n_leaf; i++) {
		memset(simpv_page(s, s->leaf[i]), 0xff, GUEST_PAGE_SIZE);
		for (uint64_t j = 0; s->leaf[i] != s->missing && j < N && i * N + j < s->high; j++)
			words(s, s->leaf[i])[j] = s->mfn[i * N + j];
	}
	/* A page that is a device's, and one of another guest's: not this guest's memory. */
	*simpv_p2m(s, s->high - 1) = UINT64_C(1) << 62 | (s->high - 1);
	*simpv_p2m(s, s->high - 2) = UINT64_C(1) << 63 | 10;
}

/* Until it is pinned a table is a page like any other. */
static void link_to(struct simpv *s, uint64_t table, unsigned index, uint64_t pfn, uint64_t flags)
{
	words(s, table)[index] = entry_for(s, pfn, flags);
}

/* L3 and L2 for one slot of an L4; the L2. */
static uint64_t make_upper(struct simpv *s, uint64_t *l3)
{
	uint64_t l2 = take(s, 1);

	*l3 = take(s, 1);
	link_to(s, *l3, 0, l2, TAB);
	return l2;
}

struct kernel {
	uint64_t direct, p2m, fix;	/* L3s, the same for all processes */
};

static struct kernel kernel_of(const struct simpv *s)
{
	const uint64_t *l4 = words(s, s->proc[0].table[4]);
	struct kernel k = {
		s->m2p[(l4[DIRECT_SLOT] & ~SIMPV_FLAGS) >> 12],
		s->m2p[(l4[P2M_SLOT] & ~SIMPV_FLAGS) >> 12],
		s->m2p[(l4[FIX_SLOT] & ~SIMPV_FLAGS) >> 12],
	};

	return k;
}

static void make_p2m_tables(struct simpv *s, uint64_t l2)
{
	uint64_t l1s = (s->n_leaf + N - 1) / N, own = l1s > 1 ? 1 : l1s;

	assert_true(l1s <= N);
	s->p2m_l1_first = take(s, 1);
	s->p2m_l1_missing = take(s, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t leaf = i < s->n_leaf ? s->leaf[i] : s->missing;

		link_to(s, s->p2m_l1_first, (unsigned)i, leaf, leaf == s->missing ? RO : RW);
		link_to(s, s->p2m_l1_missing, (unsigned)i, s->missing, RO);
	}
	for (uint64_t i = 0; i < l1s; i++)
		link_to(s, l2, (unsigned)i, i < own ? s->p2m_l1_first : s->p2m_l1_missing, TAB);
}

static struct kernel make_kernel(struct simpv *s)
{
	struct kernel k;
	uint64_t l2 = make_upper(s, &k.direct);

	for (uint64_t i = 0; i < direct_pages(s); i++)
		link_to(s, l2, (unsigned)i, s->direct_l1_first + i, TAB);
	make_p2m_tables(s, make_upper(s, &k.p2m));
	l2 = make_upper(s, &k.fix);
	s->fix_l1 = take(s, 1);
	link_to(s, l2, 9, s->fix_l1, TAB);
	words(s, s->fix_l1)[FIX_SHARED] = s->shared_mfn << 12 | RW;
	return k;
}

/* ---- processes ---------------------------------------------------------- */

/* Half of the pages a process maps it can write to; where it maps nothing there may be anything. */
static void fill_l1(struct simpv *s, uint64_t *l1)
{
	for (unsigned i = 0; i < N; i++) {
		uint64_t pfn = s->low + simpv_random(s) % (s->mid - s->low);

		l1[i] = i % 3 ? 0 : entry_for(s, pfn, i % 2 ? RO : RW);
		if (i % 7 == 5)
			l1[i] = simpv_random(s) << 20 | 0xa0 | 2;
	}
}

static void fill_proc(struct simpv *s, const struct simpv_proc *p, const struct kernel *k)
{
	for (unsigned level = 1; level <= 4; level++)
		memset(simpv_page(s, p->table[level]), 0, GUEST_PAGE_SIZE);
	fill_l1(s, words(s, p->table[1]));
	link_to(s, p->table[2], 17, p->table[1], TAB);
	link_to(s, p->table[3], 3, p->table[2], TAB);
	link_to(s, p->table[4], USER_SLOT, p->table[3], TAB);
	link_to(s, p->table[4], DIRECT_SLOT, k->direct, TAB);
	link_to(s, p->table[4], P2M_SLOT, k->p2m, TAB);
	link_to(s, p->table[4], FIX_SLOT, k->fix, TAB);
}

static void pin_proc(struct simpv *s, const struct simpv_proc *p)
{
	assert_int_equal(simpv_pin(s, s->mfn[p->table[1]], 1), 0);
	assert_int_equal(simpv_pin(s, s->mfn[p->table[4]], 4), 0);
}

/* ---- boot: the rest ----------------------------------------------------- */

static void make_start_info(struct simpv *s)
{
	start_info_t *i = (start_info_t *)simpv_page(s, START_INFO);

	strcpy(i->magic, "xen-3.0-x86_64");
	i->nr_pages = s->high;
	i->shared_info = s->shared_mfn << 12;
	i->flags = 1 << 4;
	i->store_mfn = s->mfn[STORE];
	i->store_evtchn = 3;
	i->console.domU.mfn = s->mfn[CONSOLE];
	i->console.domU.evtchn = 4;
	strcpy((char *)i->cmd_line, "quiet");
}

static void make_tree(struct simpv *s)
{
	uint64_t top = take(s, 1), mids = (s->n_leaf + N - 1) / N, mid = take(s, mids);

	for (uint64_t i = 0; i < N; i++)
		words(s, top)[i] = i < mids ? s->mfn[mid + i] : SIMPV_NONE;
	for (uint64_t i = 0; i < mids * N; i++)
		words(s, mid + i / N)[i % N] = i < s->n_leaf ? s->mfn[s->leaf[i]] : SIMPV_NONE;
	simpv_shared(s)->arch.pfn_to_mfn_frame_list_list = s->mfn[top];
}

static void make_shared_info(struct simpv *s, bool tree)
{
	shared_info_t *i = simpv_shared(s);

	memset(i, 0, GUEST_PAGE_SIZE);
	for (unsigned v = 0; v < s->vcpus; v++)
		i->vcpu_info[v].time.tsc_timestamp = 1000 + v;
	i->vcpu_info[0].evtchn_pending_sel = 1;
	i->evtchn_pending[0] = 0x18;
	i->arch.max_pfn = s->max_pfn;
	if (tree) {
		make_tree(s);
		return;
	}
	i->arch.pfn_to_mfn_frame_list_list = SIMPV_NONE;
	i->arch.p2m_cr3 = s->mfn[s->proc[0].table[4]] << 12;
	i->arch.p2m_vaddr = P2M_VADDR;
}

static void fill_blob(struct guest_blob *b, size_t size, unsigned value)
{
	*b = (struct guest_blob) { malloc(size), size };
	assert_non_null(b->data);
	memset(b->data, (int)value, size);
}

static void make_vcpu(struct simpv *s, unsigned v, uint64_t user_l4)
{
	struct guest_blob *parts = s->vcpu[v].parts;
	vcpu_guest_context_t *r;

	fill_blob(&parts[GUEST_VCPU_BASIC], sizeof(*r), 0x40 + v);
	fill_blob(&parts[GUEST_VCPU_EXTENDED], SIMPV_EXT, 0x50 + v);
	memcpy(parts[GUEST_VCPU_EXTENDED].data, &(uint32_t) { v }, 4);
	if (v % 2 == 0)
		fill_blob(&parts[GUEST_VCPU_XSAVE], 832, 0x60 + v);
	if (v != 1)
		fill_blob(&parts[GUEST_VCPU_MSRS], 2 * XF_PV_VCPU_MSR_SIZE, 0x70 + v);
	r = simpv_registers(s, v);
	r->flags = VGCF_in_kernel | VGCF_online;
	memset(r->gdt_frames, 0, sizeof(r->gdt_frames));
	r->gdt_frames[0] = s->mfn[GDT + v];
	r->gdt_ents = 16;
	r->ctrlreg[3] = s->mfn[s->proc[v].table[4]] << 12;
	r->ctrlreg[1] = user_l4 ? s->mfn[user_l4] << 12 : 0;
	s->vcpu[v].online = s->vcpu[v].set = true;
	assert_int_equal(simpv_take_registers(s, r), 0);
}

static bool read_only(const struct simpv *s, uint64_t pfn, const uint64_t *user)
{
	if (pfn >= GDT && pfn < GDT + s->vcpus)
		return true;
	if (pfn == s->missing || (pfn >= s->direct_l1_first && pfn < s->pool_end))
		return true;
	for (unsigned i = 0; i < s->vcpus; i++)
		for (unsigned level = 1; level <= 4; level++)
			if (pfn == s->proc[i].table[level] || pfn == user[i])
				return true;
	return false;
}

static void fill_direct(struct simpv *s, const uint64_t *user)
{
	for (uint64_t pfn = 0; pfn < s->high; pfn++)
		if (s->mfn[pfn] != SIMPV_NONE)
			link_to(s, s->direct_l1_first + pfn / N, (unsigned)(pfn % N), pfn,
				read_only(s, pfn, user) ? RO : RW);
}

static void fill_data(struct simpv *s)
{
	for (uint64_t pfn = s->low; pfn < s->high; pfn++)
		for (unsigned i = 0; s->mfn[pfn] != SIMPV_NONE && pfn % 4 != 3 && i < N; i++)
			words(s, pfn)[i] = pfn * 1000003 + i;
}

static void make_processes(struct simpv *s, uint64_t *user)
{
	for (unsigned v = 0; v < s->vcpus; v++) {
		struct simpv_proc *p = &s->proc[v];

		*p = (struct simpv_proc) { .there = true, .linked = true };
		for (unsigned level = 1; level <= 4; level++)
			p->table[level] = take(s, 1);
		user[v] = v % 2 ? 0 : take(s, 1);
	}
}

static void pin_all(struct simpv *s, const struct kernel *k, const uint64_t *user)
{
	for (unsigned v = 0; v < s->vcpus; v++) {
		fill_proc(s, &s->proc[v], k);
		/* Memory that two processes share. */
		if (v)
			link_to(s, s->proc[v].table[2], 18, s->proc[0].table[1], TAB);
		if (user[v])
			link_to(s, user[v], USER_SLOT, s->proc[v].table[3], TAB);
	}
	for (unsigned v = 0; v < s->vcpus; v++) {
		pin_proc(s, &s->proc[v]);
		if (user[v])
			assert_int_equal(simpv_pin(s, s->mfn[user[v]], 4), 0);
	}
}

static void make_state(struct simpv *s)
{
	fill_blob(&s->cpuid, 5 * XF_CPUID_LEAF_SIZE, 0xc1);
	fill_blob(&s->msrs, 2 * XF_MSR_ENTRY_SIZE, 0xc2);
	s->tsc = (struct guest_tsc) { .mode = 2, .khz = 2400000, .incarnation = 3, .nsec = 123456789 };
}

void simpv_boot(struct simpv *s, const struct simpv_shape *shape)
{
	uint64_t pfns = shape->max_pfn > shape->pages + 2048 ? shape->max_pfn : shape->pages + 2048;
	uint64_t user[SIMPV_VCPUS] = { 0 };
	struct kernel k;

	simpv_init(s, pfns, shape->pages + 1024, shape->vcpus, false);
	for (uint64_t pfn = 0; pfn < shape->pages - 2; pfn++)
		if (pfn < shape->hole_from || pfn >= shape->hole_to)
			simpv_take_frame(s, pfn);
	place(s, shape);
	fill_p2m(s);
	k = make_kernel(s);
	make_processes(s, user);
	make_start_info(s);
	make_shared_info(s, shape->tree);
	/* From here to pool_end: tables of the kernel. What lies below is tables or, with a tree, data that rests. */
	s->pool_end = s->proc[0].table[1];
	s->low = s->pool_next + POOL;
	s->mid = s->low + (s->high - s->low) / 2;
	fill_data(s);
	fill_direct(s, user);
	pin_all(s, &k, user);
	for (unsigned v = 0; v < s->vcpus; v++)
		make_vcpu(s, v, user[v]);
	for (unsigned i = s->vcpus; i < SIMPV_PROCS; i++)
		for (unsigned level = 1; level <= 4; level++)
			s->proc[i].table[level] = take(s, 1);
	s->pool_end = s->low;
	make_state(s);
}

void simpv_suspend(struct simpv *s)
{
	start_info_t *i = (start_info_t *)simpv_page(s, START_INFO);

	i->store_mfn = s->m2p[i->store_mfn];
	i->console.domU.mfn = s->m2p[i->console.domU.mfn];
	simpv_dirty(s, START_INFO);
	assert_int_equal(simpv_update(s, s->mfn[s->fix_l1], FIX_SHARED, 0), 0);
	simpv_registers(s, 0)->user_regs.rdx = s->mfn[START_INFO];
	s->info.suspended = s->info.shut_down = true;
	s->info.reason = 2;
}

/* ---- what it does ------------------------------------------------------- */

bool simpv_balloon_out(struct simpv *s, uint64_t pfn)
{
	uint64_t mfn = s->mfn[pfn];

	if (mfn == SIMPV_NONE)
		return false;
	assert_int_equal(map_direct(s, pfn, 0), 0);
	p2m_set(s, pfn, SIMPV_NONE);
	simpv_give_frame(s, mfn);
	s->mfn[pfn] = SIMPV_NONE;
	s->balloon_out++;
	return true;
}

bool simpv_balloon_in(struct simpv *s, uint64_t pfn)
{
	if (s->mfn[pfn] != SIMPV_NONE || simpv_take_frame(s, pfn) == SIMPV_NONE)
		return false;
	p2m_set(s, pfn, s->mfn[pfn]);
	assert_int_equal(map_direct(s, pfn, RW), 0);
	simpv_write(s, pfn, simpv_random(s));
	s->balloon_in++;
	return true;
}

/* Data pages that no process maps. */
static uint64_t unmapped_page(struct simpv *s)
{
	return s->mid + simpv_random(s) % (s->high - 2 - s->mid);
}

void simpv_work(struct simpv *s)
{
	for (int i = 0; i < 4; i++) {
		uint64_t pfn = s->low + simpv_random(s) % (s->high - s->low);

		if (s->mfn[pfn] != SIMPV_NONE)
			simpv_write(s, pfn, simpv_random(s));
	}
}

static void end_process(struct simpv *s, struct simpv_proc *p)
{
	assert_int_equal(simpv_unpin(s, s->mfn[p->table[4]]), 0);
	assert_int_equal(simpv_unpin(s, s->mfn[p->table[1]]), 0);
	for (unsigned level = 1; level <= 4; level++) {
		assert_int_equal(map_direct(s, p->table[level], RW), 0);
		/* What was a table's entry is somebody's data now. */
		for (int i = 0; i < 20; i++)
			simpv_write(s, p->table[level], simpv_random(s) | 1);
	}
	p->there = p->linked = false;
}

static void begin_process(struct simpv *s, struct simpv_proc *p)
{
	struct kernel k = kernel_of(s);

	fill_proc(s, p, &k);
	for (unsigned level = 1; level <= 4; level++)
		simpv_dirty(s, p->table[level]);
	p->there = true;
}

static void link_process(struct simpv *s, struct simpv_proc *p)
{
	for (unsigned level = 1; level <= 4; level++)
		assert_int_equal(map_direct(s, p->table[level], RO), 0);
	pin_proc(s, p);
	p->linked = true;
}

static void change_process(struct simpv *s, const struct simpv_proc *p)
{
	unsigned index = (unsigned)simpv_random(s) % N;
	uint64_t pfn = s->low + simpv_random(s) % (s->mid - s->low);
	uint64_t entry = index % 4 ? entry_for(s, pfn, index % 2 ? RO : RW) : simpv_random(s) << 20;

	assert_int_equal(simpv_update(s, s->mfn[p->table[1]], index, entry), 0);
}

/* One step of a process's life a time, so that it is met half-way through. */
void simpv_churn(struct simpv *s)
{
	unsigned i = (unsigned)simpv_random(s) % SIMPV_PROCS;
	struct simpv_proc *p = &s->proc[i];

	simpv_work(s);
	s->churns++;
	if (!p->there)
		begin_process(s, p);
	else if (!p->linked)
		link_process(s, p);
	else if (i >= s->vcpus && s->churns % 3 == 0)
		end_process(s, p);
	else
		change_process(s, p);
}

void simpv_remap(struct simpv *s)
{
	uint64_t pfn = unmapped_page(s);

	simpv_churn(s);
	if (simpv_balloon_out(s, pfn) && simpv_balloon_in(s, pfn))
		s->remaps++;
}

void simpv_balloon(struct simpv *s)
{
	uint64_t pfn = unmapped_page(s);

	simpv_work(s);
	if (!simpv_balloon_out(s, pfn))
		simpv_balloon_in(s, pfn);
}

static bool next_missing(const struct simpv *s, uint64_t *leaf)
{
	for (*leaf = 0; *leaf < s->n_leaf && s->leaf[*leaf] != s->missing; ++*leaf)
		;
	return *leaf < s->n_leaf && *leaf < N && *leaf < direct_pages(s);
}

static void set_in_tree(struct simpv *s, uint64_t index)
{
	uint64_t top = s->m2p[simpv_shared(s)->arch.pfn_to_mfn_frame_list_list];
	uint64_t mid = s->m2p[words(s, top)[index / N]];

	words(s, mid)[index % N] = s->mfn[s->leaf[index]];
	simpv_dirty(s, mid);
}

bool simpv_extend(struct simpv *s)
{
	arch_shared_info_t *arch = &simpv_shared(s)->arch;
	uint64_t index, page = s->low;

	if (!next_missing(s, &index))
		return false;
	s->low++;
	memset(simpv_page(s, page), 0xff, GUEST_PAGE_SIZE);
	simpv_dirty(s, page);
	arch->p2m_generation++;
	s->leaf[index] = page;
	assert_int_equal(simpv_update(s, s->mfn[s->p2m_l1_first], (unsigned)index, entry_for(s, page, RW)), 0);
	if (!arch->p2m_cr3)
		set_in_tree(s, index);
	arch->p2m_generation++;
	s->extended++;
	return simpv_balloon_in(s, index * N + 3);
}

void simpv_grow(struct simpv *s)
{
	simpv_work(s);
	if (s->runs % 16 == 0)
		simpv_extend(s);
}
