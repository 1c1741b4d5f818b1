/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two guests, each on its own machine: the same but for the frames' numbers. */
#include "simpv.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "stream/wire.h"

#define START_INFO 1
#define STORE	   2
#define CONSOLE	   3

static const uint64_t *words(const struct simpv *s, uint64_t pfn)
{
	return (const uint64_t *)simpv_page(s, pfn);
}

/* What an entry says with the guest's numbers: equal if the guests are. */
static uint64_t meaning(const struct simpv *s, uint64_t entry)
{
	uint64_t mfn = (entry & ~SIMPV_FLAGS) >> 12;

	if (!(entry & SIMPV_PRESENT))
		return entry;
	return (entry & SIMPV_FLAGS) | (mfn < s->mfns ? s->m2p[mfn] << 12 : SIMPV_NONE);
}

static void same_table(const struct simpv *from, const struct simpv *to, uint64_t pfn, unsigned level)
{
	for (unsigned i = 0; i < SIMPV_ENTRIES; i++) {
		uint64_t a = words(from, pfn)[i], b = words(to, pfn)[i];

		if (level == 4 && i >= 256 && i <= 271)
			assert_int_equal(b, (to->mfns + i) << 12 | 0x63);
		else if (meaning(from, a) != meaning(to, b))
			fail_msg("entry %u of the table at pfn 0x%" PRIx64 " is 0x%" PRIx64 ", was 0x%" PRIx64,
				 i, pfn, b, a);
	}
}

static void same_leaf(const struct simpv *to, uint64_t leaf, uint64_t pfn)
{
	for (uint64_t i = 0; i < SIMPV_ENTRIES; i++) {
		uint64_t of = leaf * SIMPV_ENTRIES + i;
		uint64_t want = of < to->pfns ? to->mfn[of] : SIMPV_NONE;

		if (words(to, pfn)[i] != want)
			fail_msg("the P2M says 0x%" PRIx64 " for pfn 0x%" PRIx64 ", it is 0x%" PRIx64,
				 words(to, pfn)[i], of, want);
	}
}

static void same_start_info(const struct simpv *from, const struct simpv *to)
{
	const start_info_t *a = (const start_info_t *)simpv_page(from, START_INFO);
	const start_info_t *b = (const start_info_t *)simpv_page(to, START_INFO);

	assert_string_equal(a->magic, b->magic);
	assert_string_equal((const char *)a->cmd_line, (const char *)b->cmd_line);
	assert_int_equal(b->shared_info, to->shared_mfn << 12);
	assert_int_equal(b->flags, 0);
	assert_int_equal(b->store_mfn, to->mfn[a->store_mfn]);
	assert_int_equal(b->store_evtchn, 11);
	assert_int_equal(b->console.domU.mfn, to->mfn[a->console.domU.mfn]);
	assert_int_equal(b->console.domU.evtchn, 12);
}

/* SIMPV_NONE: it is no page of the P2M. */
static uint64_t leaf_at(const struct simpv *s, uint64_t pfn)
{
	for (uint64_t i = 0; i < s->n_leaf; i++)
		if (s->leaf[i] == pfn && pfn != s->missing)
			return i;
	return SIMPV_NONE;
}

static void same_page(const struct simpv *from, const struct simpv *to, uint64_t pfn)
{
	uint8_t type = simpv_type(from, from->mfn[pfn]);
	uint64_t leaf = leaf_at(from, pfn);

	if (simpv_type(to, to->mfn[pfn]) != type)
		fail_msg("pfn 0x%" PRIx64 " is of type %u, was %u", pfn, simpv_type(to, to->mfn[pfn]), type);
	if (type != XF_PAGE_NOTAB)
		same_table(from, to, pfn, type & 7u);
	else if (leaf != SIMPV_NONE)
		same_leaf(to, leaf, pfn);
	else if (pfn == START_INFO)
		same_start_info(from, to);
	else if (memcmp(simpv_page(from, pfn), simpv_page(to, pfn), GUEST_PAGE_SIZE))
		fail_msg("page 0x%" PRIx64 " did not arrive as it was", pfn);
}

static void same_memory(const struct simpv *from, const struct simpv *to)
{
	for (uint64_t pfn = 0; pfn < from->pfns; pfn++) {
		bool there = pfn < to->pfns && to->mfn[pfn] != SIMPV_NONE;

		if ((from->mfn[pfn] != SIMPV_NONE) != there)
			fail_msg("pfn 0x%" PRIx64 " %s", pfn, there ? "came with memory" : "lost its memory");
		if (there)
			same_page(from, to, pfn);
	}
	assert_int_equal(from->held, to->held);
}

static void same_blob(const struct guest_blob *a, const struct guest_blob *b)
{
	assert_int_equal(a->size, b->size);
	if (a->size)
		assert_memory_equal(a->data, b->data, a->size);
}

/* The registers with the guest's numbers in them. */
static vcpu_guest_context_t registers(struct simpv *s, unsigned v)
{
	vcpu_guest_context_t r = *simpv_registers(s, v);

	for (unsigned i = 0; i < (r.gdt_ents + 511) / 512; i++)
		r.gdt_frames[i] = s->m2p[r.gdt_frames[i]];
	r.ctrlreg[3] = s->m2p[r.ctrlreg[3] >> 12];
	if (r.ctrlreg[1])
		r.ctrlreg[1] = s->m2p[r.ctrlreg[1] >> 12];
	if (!v)
		r.user_regs.rdx = s->m2p[r.user_regs.rdx];
	return r;
}

static void same_vcpu(struct simpv *from, struct simpv *to, unsigned v)
{
	vcpu_guest_context_t a, b;

	assert_int_equal(to->vcpu[v].set, from->vcpu[v].online);
	if (!to->vcpu[v].set)
		return;
	a = registers(from, v);
	b = registers(to, v);
	assert_memory_equal(&a, &b, sizeof(a));
	for (int part = GUEST_VCPU_EXTENDED; part < GUEST_VCPU_PARTS; part++)
		same_blob(&from->vcpu[v].parts[part], &to->vcpu[v].parts[part]);
}

static void same_shared_info(const struct simpv *from, const struct simpv *to)
{
	const shared_info_t *a = simpv_shared(from), *b = simpv_shared(to);

	for (unsigned v = 0; v < from->vcpus; v++) {
		assert_int_equal(a->vcpu_info[v].time.tsc_timestamp, b->vcpu_info[v].time.tsc_timestamp);
		assert_int_equal(b->vcpu_info[v].evtchn_pending_sel, 0);
	}
	assert_int_equal(b->evtchn_pending[0], 0);
	assert_int_equal(b->evtchn_mask[0], UINT64_MAX);
	assert_int_equal(b->arch.max_pfn, a->arch.max_pfn);
	assert_int_equal(b->arch.pfn_to_mfn_frame_list_list, 0);
}

void simpv_expect_same(struct simpv *from, struct simpv *to)
{
	same_memory(from, to);
	same_shared_info(from, to);
	for (unsigned v = 0; v < from->vcpus; v++)
		same_vcpu(from, to, v);
	same_blob(&from->cpuid, &to->cpuid);
	same_blob(&from->msrs, &to->msrs);
	assert_true(to->tsc_is_set);
	assert_int_equal(from->tsc.mode, to->tsc.mode);
	assert_int_equal(from->tsc.khz, to->tsc.khz);
	assert_int_equal(from->tsc.nsec, to->tsc.nsec);
	assert_int_equal(from->tsc.incarnation, to->tsc.incarnation);
	assert_true(to->is_seeded);
	assert_int_equal(to->m2p[to->seeded.store_gfn], STORE);
	assert_int_equal(to->m2p[to->seeded.console_gfn], CONSOLE);
	assert_int_equal(to->seeded.store_domid, 1);
	assert_int_equal(to->seeded.console_domid, 2);
}
