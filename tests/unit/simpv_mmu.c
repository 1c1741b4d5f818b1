/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Xen's rules for page tables: what is a table is not mapped for writing, every
 * entry leads to a frame of the guest's that is one level lower, and how often
 * a frame is used as what is counted.
 */
#include "simpv.h"

#include <errno.h>
#include <string.h>

/* Of an L4: Xen's own. */
#define XEN_FIRST 256u
#define XEN_LAST  271u

static uint64_t entry_mfn(uint64_t entry)
{
	return (entry & ~SIMPV_FLAGS) >> 12;
}

static uint64_t *table(const struct simpv *s, uint64_t mfn)
{
	return (uint64_t *)simpv_frame_at(s, mfn);
}

static void note_dirty(struct simpv *s, uint64_t mfn)
{
	if (s->m2p[mfn] < s->pfns)
		simpv_dirty(s, s->m2p[mfn]);
}

static bool is_xens(unsigned level, unsigned index)
{
	return level == 4 && index >= XEN_FIRST && index <= XEN_LAST;
}

static int get_entry(struct simpv *s, unsigned level, uint64_t entry)
{
	uint64_t mfn = entry_mfn(entry);

	if (!(entry & SIMPV_PRESENT))
		return 0;
	if (level > 1)
		return entry & SIMPV_LARGE ? -EINVAL : simpv_get_type(s, mfn, level - 1);
	if (mfn == s->shared_mfn)
		return 0;
	if (entry & SIMPV_RW)
		return simpv_get_type(s, mfn, SIMPV_WRITABLE);
	if (mfn >= s->mfns || s->frame[mfn].owner != SIMPV_GUEST || s->frame[mfn].doomed)
		return -EINVAL;
	s->frame[mfn].refs++;
	return 0;
}

static void put_entry(struct simpv *s, unsigned level, uint64_t entry)
{
	uint64_t mfn = entry_mfn(entry);

	if (!(entry & SIMPV_PRESENT) || (level == 1 && mfn == s->shared_mfn))
		return;
	if (level > 1 || entry & SIMPV_RW) {
		simpv_put_type(s, mfn);
		return;
	}
	s->frame[mfn].refs--;
	simpv_maybe_release(s, mfn);
}

static int validate(struct simpv *s, uint64_t mfn, unsigned level)
{
	for (unsigned i = 0; i < SIMPV_ENTRIES; i++) {
		int rc = is_xens(level, i) ? 0 : get_entry(s, level, table(s, mfn)[i]);

		for (; rc && i-- > 0;)
			if (!is_xens(level, i))
				put_entry(s, level, table(s, mfn)[i]);
		if (rc)
			return rc;
	}
	for (unsigned i = XEN_FIRST; level == 4 && i <= XEN_LAST; i++)
		table(s, mfn)[i] = (s->mfns + i) << 12 | 0x63;
	note_dirty(s, mfn);
	return 0;
}

int simpv_get_type(struct simpv *s, uint64_t mfn, unsigned type)
{
	struct simpv_frame *f = &s->frame[mfn];
	unsigned before;
	int rc;

	if (mfn >= s->mfns || f->owner != SIMPV_GUEST || f->doomed)
		return -EINVAL;
	if (f->uses) {
		if (f->type != type)
			return -EBUSY;
		f->uses++;
		return 0;
	}
	before = f->type;
	f->type = (uint8_t)type;
	f->uses = 1;
	if (type > 4)
		return 0;
	rc = validate(s, mfn, type);
	if (rc) {
		f->type = (uint8_t)before;
		f->uses = 0;
	}
	return rc;
}

void simpv_put_type(struct simpv *s, uint64_t mfn)
{
	struct simpv_frame *f = &s->frame[mfn];

	if (--f->uses)
		return;
	if (f->type <= 4) {
		for (unsigned i = 0; i < SIMPV_ENTRIES; i++)
			if (!is_xens(f->type, i))
				put_entry(s, f->type, table(s, mfn)[i]);
		note_dirty(s, mfn);
	}
	simpv_maybe_release(s, mfn);
}

int simpv_pin(struct simpv *s, uint64_t mfn, unsigned level)
{
	int rc;

	if (level < 1 || level > 4)
		return -EINVAL;
	rc = simpv_get_type(s, mfn, level);
	if (rc)
		return rc;
	if (s->frame[mfn].pinned) {
		simpv_put_type(s, mfn);
		return -EEXIST;
	}
	s->frame[mfn].pinned = true;
	note_dirty(s, mfn);
	return 0;
}

int simpv_unpin(struct simpv *s, uint64_t mfn)
{
	if (mfn >= s->mfns || !s->frame[mfn].pinned)
		return -EINVAL;
	s->frame[mfn].pinned = false;
	note_dirty(s, mfn);
	simpv_put_type(s, mfn);
	return 0;
}

int simpv_update(struct simpv *s, uint64_t table_mfn, unsigned index, uint64_t entry)
{
	struct simpv_frame *f = &s->frame[table_mfn];
	uint64_t old = table(s, table_mfn)[index];
	int rc;

	if (!f->uses || f->type > 4 || is_xens(f->type, index))
		return -EINVAL;
	/* Other flags of the same frame: the old use must be over before it may get the new one. */
	if (entry_mfn(old) == entry_mfn(entry))
		put_entry(s, f->type, old);
	rc = get_entry(s, f->type, entry);
	if (rc) {
		if (entry_mfn(old) == entry_mfn(entry))
			get_entry(s, f->type, old);
		return rc;
	}
	__atomic_store_n(&table(s, table_mfn)[index], entry, __ATOMIC_RELAXED);
	if (entry_mfn(old) != entry_mfn(entry))
		put_entry(s, f->type, old);
	note_dirty(s, table_mfn);
	return 0;
}
