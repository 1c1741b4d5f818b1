/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Guest-virtual walks over page tables built here, good ones and hostile ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xcbatch.h"

#define ENTRIES 512u
#define PRESENT UINT64_C(1)
#define LARGE   UINT64_C(0x80)
#define TABLES  64u
#define ROOT    1u
#define P2M_VA  UINT64_C(0xffffc90000000000)
#define MIB     (UINT64_C(1) << 20)
#define GIB     (UINT64_C(1) << 30)
#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);

static int allocations_left = -1;	/* -1: no limit */

static int out_of_memory(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return out_of_memory() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return out_of_memory() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return out_of_memory() ? NULL : __real_realloc(p, size);
}

/* A guest's tables: the frame's number is the index. */
struct guest {
	uint64_t tables[TABLES][ENTRIES];
	unsigned used;			/* frames given to tables so far */
	unsigned reads[TABLES];
	unsigned all_reads;
	uint64_t fails;			/* reading this frame fails */
	int error;
	uint64_t *shown;		/* what the last call handed out: gone with the next */
};

static int guest_table(void *data, uint64_t frame, const uint64_t **entries)
{
	struct guest *g = data;

	free(g->shown);
	g->shown = NULL;
	g->all_reads++;
	if (g->error && frame == g->fails)
		return g->error;
	if (frame == 0 || frame >= TABLES)
		return -ENXIO;
	g->reads[frame]++;
	g->shown = __real_malloc(sizeof(g->tables[frame]));
	assert_non_null(g->shown);
	memcpy(g->shown, g->tables[frame], sizeof(g->tables[frame]));
	*entries = g->shown;
	return 0;
}

static struct guest *new_guest(void)
{
	struct guest *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->used = ROOT + 1;
	return g;
}

static void free_guest(struct guest *g)
{
	free(g->shown);
	free(g);
}

static uint64_t *entry_for(struct guest *g, uint64_t va, unsigned lowest)
{
	uint64_t *table = g->tables[ROOT];

	for (unsigned level = 4; level > lowest; level--) {
		uint64_t *e = &table[(va >> (3 + 9 * level)) % ENTRIES];

		if (!(*e & PRESENT)) {
			assert_true(g->used < TABLES);
			*e = (uint64_t)g->used++ << 12 | 0x67;
		}
		table = g->tables[*e >> 12];
	}
	return &table[(va >> (3 + 9 * lowest)) % ENTRIES];
}

static void map_page(struct guest *g, uint64_t va, uint64_t frame)
{
	*entry_for(g, va, 1) = frame << 12 | 0x67;
}

/* The frame that tests map at page i: scattered. */
static uint64_t frame_of(uint64_t i)
{
	return 0x10000 + (i * 7919) % 0x8000;
}

static void map_pages(struct guest *g, uint64_t va, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		map_page(g, va + i * 4096, frame_of(i));
}

static struct xcbatch_space *open_space(struct guest *g)
{
	struct xcbatch_space_source src = { .table = guest_table, .data = g };
	struct xcbatch_space *s = NULL;

	assert_int_equal(xcbatch_space_open(&src, ROOT, &s), 0);
	assert_int_equal(g->all_reads, 0);
	return s;
}

static void no_reads(struct guest *g)
{
	memset(g->reads, 0, sizeof(g->reads));
	g->all_reads = 0;
}

static int one(struct xcbatch_space *s, uint64_t va, uint64_t *frame)
{
	size_t at = 77;
	int rc = xcbatch_space_translate(s, va, 1, frame, &at);

	assert_int_equal(at, rc < 0 ? 0 : 77);
	return rc;
}

static void test_pages(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[1500];

	(void)unused;
	map_pages(g, P2M_VA, 1500);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 1500, frames, NULL), 0);
	for (uint64_t i = 0; i < 1500; i++)
		assert_int_equal(frames[i], frame_of(i));

	/* The way down once and each of three lowest tables once. */
	assert_int_equal(g->all_reads, 6);
	for (unsigned f = 0; f < TABLES; f++)
		assert_true(g->reads[f] <= 1);

	/* Known now; an address inside a page is that page. */
	no_reads(g);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA + 1000 * 4096 + 0xabc, 100, frames, NULL), 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(frames[i], frame_of(1000 + i));
	for (uint64_t i = 1499; i < 1500; i--)
		assert_int_equal(one(s, P2M_VA + i * 4096, frames), 0);
	assert_int_equal(g->all_reads, 0);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 0, NULL, NULL), 0);
	xcbatch_space_close(s);
	free_guest(g);
}

/* The lower half, its first and its last page, and the last page of all. */
static void test_ends(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frame = UNTOUCHED, two[2];

	(void)unused;
	map_page(g, 0, 0x111);
	map_page(g, UINT64_C(0x7ffffffff000), 0x222);
	map_page(g, UINT64_C(0xfffffffffffff000), 0x333);
	assert_int_equal(one(s, 0, &frame), 0);
	assert_int_equal(frame, 0x111);
	assert_int_equal(one(s, UINT64_C(0x7fffffffffff), &frame), 0);
	assert_int_equal(frame, 0x222);
	assert_int_equal(one(s, UINT64_MAX, &frame), 0);
	assert_int_equal(frame, 0x333);

	no_reads(g);
	assert_int_equal(xcbatch_space_translate(s, UINT64_C(0x7ffffffff000), 2, two, NULL), -EINVAL);
	assert_int_equal(xcbatch_space_translate(s, UINT64_C(0xfffffffffffff000), 2, two, NULL), -EINVAL);
	assert_int_equal(xcbatch_space_translate(s, 0, SIZE_MAX, two, NULL), -EINVAL);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, SIZE_MAX, two, NULL), -EINVAL);
	assert_int_equal(one(s, UINT64_C(0x0000800000000000), &frame), -EINVAL);
	assert_int_equal(one(s, UINT64_C(0xffff7ffffffff000), &frame), -EINVAL);
	assert_int_equal(one(s, UINT64_C(0x1234800000000000), &frame), -EINVAL);
	assert_int_equal(g->all_reads, 0);
	xcbatch_space_close(s);
	free_guest(g);
}

static void test_large_pages(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[520];

	(void)unused;
	/* Low bits of a large page's frame are no part of it: bit 12 is a memory type. */
	*entry_for(g, P2M_VA, 2) = UINT64_C(0x40000) << 12 | LARGE | 0x1067;
	*entry_for(g, P2M_VA + GIB, 3) = UINT64_C(0x80000) << 12 | LARGE | 0x1067;
	map_page(g, P2M_VA + 2 * MIB, 0x999);
	/* Bit 7 of a lowest entry says nothing about size. */
	*entry_for(g, P2M_VA + 2 * MIB + 4096, 1) = UINT64_C(0x777) << 12 | LARGE | 1;

	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 514, frames, NULL), 0);
	for (uint64_t i = 0; i < 512; i++)
		assert_int_equal(frames[i], 0x40000 + i);
	assert_int_equal(frames[512], 0x999);
	assert_int_equal(frames[513], 0x777);

	assert_int_equal(xcbatch_space_translate(s, P2M_VA + GIB + 300 * MIB, 520, frames, NULL), 0);
	for (uint64_t i = 0; i < 520; i++)
		assert_int_equal(frames[i], 0x80000 + 300 * 256 + i);
	assert_int_equal(one(s, P2M_VA + 2 * GIB - 1, frames), 0);
	assert_int_equal(frames[0], 0x80000 + 0x3ffff);

	/* A piece of a large page is invalidated, all of it is read anew. */
	*entry_for(g, P2M_VA + GIB, 3) = UINT64_C(0xc0000) << 12 | LARGE | 0x67;
	assert_int_equal(one(s, P2M_VA + GIB, frames), 0);
	assert_int_equal(frames[0], 0x80000);
	xcbatch_space_invalidate(s, P2M_VA + GIB + 700 * MIB, 1);
	assert_int_equal(one(s, P2M_VA + GIB, frames), 0);
	assert_int_equal(frames[0], 0xc0000);
	xcbatch_space_close(s);
	free_guest(g);
}

static void test_not_mapped(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[600];
	size_t at = 0;

	(void)unused;
	map_pages(g, P2M_VA, 600);
	for (unsigned lowest = 1; lowest <= 4; lowest++) {
		uint64_t va = P2M_VA + 550 * 4096, was = *entry_for(g, va, lowest);

		xcbatch_space_invalidate(s, P2M_VA, 600);
		*entry_for(g, va, lowest) = was & ~PRESENT;
		memset(frames, 0x5a, sizeof(frames));
		assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, &at), -EFAULT);
		assert_int_equal(at, lowest == 1 ? 550 : lowest == 2 ? 512 : 0);
		for (uint64_t i = 0; i < 600; i++)
			assert_int_equal(frames[i], i < at ? frame_of(i) : UNTOUCHED);

		/* Mapped meanwhile: found without an invalidation. */
		g->tables[ROOT][(va >> 39) % ENTRIES] |= PRESENT;
		*entry_for(g, va, lowest) = was;
		assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, &at), 0);
		for (uint64_t i = 0; i < 600; i++)
			assert_int_equal(frames[i], frame_of(i));
	}
	xcbatch_space_close(s);
	free_guest(g);
}

/* Across the ends of a third-level and of a root entry in one call: other tables of each level. */
static void test_across_tables(void **unused)
{
	static const uint64_t borders[] = { P2M_VA + GIB, P2M_VA + 512 * GIB };
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[20];

	(void)unused;
	for (size_t b = 0; b < 2; b++) {
		map_pages(g, borders[b] - 10 * 4096, 20);
		assert_int_equal(xcbatch_space_translate(s, borders[b] - 10 * 4096, 20, frames, NULL), 0);
		for (uint64_t i = 0; i < 20; i++)
			assert_int_equal(frames[i], frame_of(i));
	}
	xcbatch_space_close(s);
	free_guest(g);
}

static void test_invalidate(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[5 * 512];

	(void)unused;
	map_pages(g, P2M_VA, 5 * 512);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 5 * 512, frames, NULL), 0);
	for (uint64_t i = 0; i < 5; i++)
		map_page(g, P2M_VA + i * 2 * MIB, 0xabc + i);

	/* Of five tables' pages the middle three: from the last of the second to the first of the fourth. */
	xcbatch_space_invalidate(s, P2M_VA + 1023 * 4096, 514);
	no_reads(g);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 5 * 512, frames, NULL), 0);
	assert_int_equal(g->all_reads, 6);
	for (uint64_t i = 0; i < 5 * 512; i++)
		assert_int_equal(frames[i], i == 512 || i == 1024 || i == 1536 ? 0xabc + i / 512 : frame_of(i));

	/* None of these touches what is known. */
	no_reads(g);
	xcbatch_space_invalidate(s, P2M_VA + 4096, 0);
	xcbatch_space_invalidate(s, P2M_VA - 4096, 1);
	xcbatch_space_invalidate(s, P2M_VA + 10 * MIB, SIZE_MAX);
	xcbatch_space_invalidate(s, 0, 1000);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 5 * 512, frames, NULL), 0);
	assert_int_equal(g->all_reads, 0);

	xcbatch_space_invalidate(s, 0, SIZE_MAX);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 5 * 512, frames, NULL), 0);
	assert_int_equal(g->all_reads, 8);
	assert_int_equal(frames[0], 0xabc);
	assert_int_equal(frames[4 * 512], 0xabc + 4);
	xcbatch_space_close(s);
	free_guest(g);
}

/* A table where a large page was, and a large page where tables were. */
static void test_size_changes(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t va = P2M_VA + 4 * MIB, frames[1025], kept;

	(void)unused;
	map_pages(g, P2M_VA, 3 * 512);
	map_page(g, va, 0x123);
	*entry_for(g, va + 4096, 1) = 0;
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 1025, frames, NULL), 0);
	kept = *entry_for(g, P2M_VA, 3);
	*entry_for(g, P2M_VA, 3) = UINT64_C(0x40000) << 12 | LARGE | 1;
	/* A page that was not mapped in a known table: the walk finds a larger page over all three. */
	assert_int_equal(one(s, va + 4096, frames), 0);
	assert_int_equal(frames[0], 0x40000 + 1025);
	assert_int_equal(one(s, P2M_VA, frames), 0);
	assert_int_equal(frames[0], 0x40000);
	*entry_for(g, P2M_VA, 3) = kept;
	xcbatch_space_invalidate(s, va, 1);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 1025, frames, NULL), 0);
	assert_int_equal(frames[0], frame_of(0));
	assert_int_equal(frames[1024], 0x123);
	xcbatch_space_close(s);
	free_guest(g);
}

static void test_source_fails(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[600];
	size_t at = 0;

	(void)unused;
	map_pages(g, P2M_VA, 600);
	assert_int_equal(*entry_for(g, P2M_VA, 2) >> 12, 4);
	g->error = -EPERM;
	for (g->fails = ROOT; g->fails <= 5; g->fails++) {
		xcbatch_space_invalidate(s, P2M_VA, 600);
		assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, &at), -EPERM);
		assert_int_equal(at, g->fails == 5 ? 512 : 0);
	}
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, &at), 0);

	/* A frame that is no table of the guest's. */
	*entry_for(g, P2M_VA, 3) = UINT64_C(0xffffffffff) << 12 | 1;
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, &at), 0);
	xcbatch_space_invalidate(s, P2M_VA, 600);
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, &at), -ENXIO);
	xcbatch_space_close(s);
	free_guest(g);
}

static void test_out_of_memory(void **unused)
{
	struct xcbatch_space_source src = { .table = guest_table };
	struct guest *g = new_guest();
	struct xcbatch_space *s = NULL;
	uint64_t frames[600];
	int rc;

	(void)unused;
	src.data = g;
	map_pages(g, P2M_VA, 600);
	allocations_left = 0;
	rc = xcbatch_space_open(&src, ROOT, &s);
	allocations_left = -1;
	assert_int_equal(rc, -ENOMEM);
	s = open_space(g);
	/* The first table's pages, room for regions, the second table's pages. */
	for (int after = 0; after < 4; after++) {
		size_t at = 0;

		xcbatch_space_close(s);
		no_reads(g);
		s = open_space(g);
		allocations_left = after;
		rc = xcbatch_space_translate(s, P2M_VA, 600, frames, &at);
		allocations_left = -1;
		assert_int_equal(rc, after < 3 ? -ENOMEM : 0);
		assert_int_equal(at, after == 2 ? 512 : 0);
	}
	assert_int_equal(xcbatch_space_translate(s, P2M_VA, 600, frames, NULL), 0);
	assert_int_equal(frames[599], frame_of(599));
	xcbatch_space_close(s);
	free_guest(g);
}

static void test_open(void **unused)
{
	struct xcbatch_space_source src = { .table = guest_table };
	struct xcbatch_space *s = NULL;

	(void)unused;
	assert_int_equal(xcbatch_space_open(&src, UINT64_C(1) << 40, &s), -EINVAL);
	assert_int_equal(xcbatch_space_open(&src, UINT64_MAX, &s), -EINVAL);
	assert_int_equal(xcbatch_space_open(&src, (UINT64_C(1) << 40) - 1, &s), 0);
	xcbatch_space_close(s);
	xcbatch_space_close(NULL);
}

/* All tables are the root: depth ends the walk. Bits over the frame's are no part of it. */
static void test_loop(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frame;

	(void)unused;
	for (unsigned i = 0; i < ENTRIES; i++)
		g->tables[ROOT][i] = UINT64_C(0xfff) << 52 | ROOT << 12 | PRESENT;
	assert_int_equal(one(s, 0x123456789000, &frame), 0);
	assert_int_equal(frame, ROOT);
	assert_int_equal(g->all_reads, 4);

	g->tables[ROOT][0] = UINT64_MAX & ~LARGE;
	xcbatch_space_invalidate(s, 0, SIZE_MAX);
	assert_int_equal(one(s, 0x123456600000, &frame), 0);
	assert_int_equal(frame, (UINT64_C(1) << 40) - 1);

	/* A large page in a root there is none. */
	g->tables[ROOT][3] |= LARGE;
	assert_int_equal(one(s, UINT64_C(3) << 39, &frame), -EFAULT);
	xcbatch_space_close(s);
	free_guest(g);
}

/* Xen's own slots in the root are no part of the guest, whatever they hold. */
static void test_xen_range(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t va = UINT64_C(0xffff800000000000), end = UINT64_C(0xffff880000000000), frame;

	(void)unused;
	for (unsigned i = 0; i < ENTRIES; i++)
		g->tables[ROOT][i] = ROOT << 12 | PRESENT;
	for (; va < end; va += UINT64_C(1) << 38)
		assert_int_equal(one(s, va, &frame), -EFAULT);
	assert_int_equal(one(s, end - 1, &frame), -EFAULT);
	assert_int_equal(g->all_reads, 0);
	assert_int_equal(one(s, end, &frame), 0);
	assert_int_equal(one(s, UINT64_C(0x7fffffffffff), &frame), 0);
	xcbatch_space_close(s);
	free_guest(g);
}

/* ---- any bytes as tables, against the simplest walk that can be right ---- */

static uint64_t noise(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t noise_entry(uint64_t frame, unsigned slot)
{
	uint64_t e = noise(frame * ENTRIES + slot);

	/* Mostly present and small, or few walks would get far. */
	if (noise(e) % 8)
		e |= PRESENT;
	if (noise(e) % 4)
		e &= ~LARGE;
	return e;
}

static int noise_table(void *data, uint64_t frame, const uint64_t **entries)
{
	static uint64_t table[ENTRIES];
	unsigned *reads = data;

	(*reads)++;
	if (noise(frame) % 16 == 0)
		return -ENXIO;
	for (unsigned i = 0; i < ENTRIES; i++)
		table[i] = noise_entry(frame, i);
	*entries = table;
	return 0;
}

static int noise_walk(uint64_t page, uint64_t *out)
{
	uint64_t frame = 0, e;

	for (unsigned level = 4; level > 0; level--) {
		uint64_t under = UINT64_C(1) << 9 * (level - 1);
		unsigned slot = (unsigned)(page / under) % ENTRIES;

		if (level == 4 && slot >= 256 && slot < 272)
			return -EFAULT;
		if (noise(frame) % 16 == 0)
			return -ENXIO;
		e = noise_entry(frame, slot);
		if (!(e & PRESENT) || (level == 4 && (e & LARGE)))
			return -EFAULT;
		frame = e << 12 >> 24;
		if (level > 1 && (e & LARGE)) {
			*out = frame / under * under + page % under;
			return 0;
		}
	}
	*out = frame;
	return 0;
}

static void test_noise(void **unused)
{
	unsigned reads = 0, good = 0, bad = 0;
	struct xcbatch_space_source src = { .table = noise_table, .data = &reads };
	struct xcbatch_space *s = NULL;

	(void)unused;
	assert_int_equal(xcbatch_space_open(&src, 0, &s), 0);
	for (uint64_t round = 0; round < 3000; round++) {
		/* Few places, so that what is known is met again; some across the ends of tables. */
		uint64_t va = noise(round % 2000) << 16 >> 4 >> 12 << 12;
		uint64_t frames[40], want = 0;
		size_t at = 0, n = 1 + noise(round) % 40, i;
		int rc;

		if (va >> 47 & 1)
			va |= UINT64_C(0xffff) << 48;
		if (round % 3 == 0)
			va = (va | (2 * MIB - 1)) - 20 * 4096;
		rc = xcbatch_space_translate(s, va, n, frames, &at);
		if (rc == -EINVAL)
			continue;
		assert_true(rc == 0 || at < n);
		for (i = 0; i < (rc < 0 ? at : n); i++) {
			assert_int_equal(noise_walk((va >> 12) + i, &want), 0);
			assert_int_equal(frames[i], want);
			good++;
		}
		if (rc < 0) {
			assert_int_equal(noise_walk((va >> 12) + at, &want), rc);
			bad++;
		}
		if (round % 7 == 0)
			xcbatch_space_invalidate(s, noise(round) << 12, noise(round) >> 20);
	}
	assert_true(good > 1000 && bad > 100);
	xcbatch_space_close(s);
}

/* More tables than are kept: all is right still, and what was met lately is known. */
static void test_bounded(void **unused)
{
	struct guest *g = new_guest();
	struct xcbatch_space *s = open_space(g);
	uint64_t frames[4], held = 0;

	(void)unused;
	/* One lowest table behind every entry of one second-level table behind four of the third. */
	map_pages(g, P2M_VA, 512);
	for (uint64_t i = 0; i < 512; i++)
		*entry_for(g, P2M_VA + i * 2 * MIB, 2) = *entry_for(g, P2M_VA, 2);
	for (uint64_t i = 1; i < 4; i++)
		*entry_for(g, P2M_VA + i * GIB, 3) = *entry_for(g, P2M_VA, 3);
	for (uint64_t i = 0; i < 4 * 512; i++) {
		assert_int_equal(xcbatch_space_translate(s, P2M_VA + i * 2 * MIB, 4, frames, NULL), 0);
		assert_int_equal(frames[3], frame_of(3));
	}
	for (uint64_t i = 4 * 512; i-- > 0;) {
		no_reads(g);
		assert_int_equal(one(s, P2M_VA + i * 2 * MIB + 4096, frames), 0);
		assert_int_equal(frames[0], frame_of(1));
		if (g->all_reads > 0)
			break;
		held++;
	}
	assert_int_equal(held, 1024);
	xcbatch_space_close(s);
	free_guest(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_large_pages),
		cmocka_unit_test(test_not_mapped),
		cmocka_unit_test(test_across_tables),
		cmocka_unit_test(test_invalidate),
		cmocka_unit_test(test_size_changes),
		cmocka_unit_test(test_source_fails),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_xen_range),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
