// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pv/table.h"

#include <errno.h>

#include "stream/wire.h"

#define PRESENT    UINT64_C(0x001)
#define LARGE      UINT64_C(0x080)	/* in levels 2 to 4 */
#define FRAME_MASK UINT64_C(0x000ffffffffff000)

/* Of an L4: 0xffff800000000000 to 0xffff87ffffffffff is Xen's. */
#define XEN_FIRST 256u
#define XEN_LAST  271u

bool pv_is_table(unsigned type)
{
	type &= ~(unsigned)XF_PAGE_PINNED;
	return type >= XF_PAGE_L1TAB && type <= XF_PAGE_L4TAB;
}

unsigned pv_table_level(unsigned type)
{
	return type & ~(unsigned)XF_PAGE_PINNED;
}

static uint64_t with_frame(uint64_t entry, uint64_t frame)
{
	return (entry & ~FRAME_MASK) | (frame << XF_PAGE_SHIFT & FRAME_MASK);
}

static int refuse(struct pv_bad_entry *bad, unsigned index, uint64_t entry, int rc)
{
	*bad = (struct pv_bad_entry) { index, entry };
	return rc;
}

int pv_table_normalise(const struct pv_frames *f, unsigned type, const uint64_t *from, uint64_t *to,
		       struct pv_bad_entry *bad)
{
	unsigned level = pv_table_level(type);

	for (unsigned i = 0; i < PV_ENTRIES; i++) {
		uint64_t entry = pv_entry(from, i), pfn;

		if (level == 4 && i >= XEN_FIRST && i <= XEN_LAST)
			entry = 0;
		if (entry & PRESENT) {
			if (level > 1 && entry & LARGE)
				return refuse(bad, i, entry, -E2BIG);
			pfn = pv_pfn(f, (entry & FRAME_MASK) >> XF_PAGE_SHIFT);
			if (pfn == PV_NO_FRAME)
				return refuse(bad, i, entry, -ERANGE);
			entry = with_frame(entry, pfn);
		}
		to[i] = entry;
	}
	return 0;
}

int pv_table_localise(const struct pv_frames *f, uint64_t *table, struct pv_bad_entry *bad)
{
	for (unsigned i = 0; i < PV_ENTRIES; i++) {
		uint64_t mfn;

		if (!(table[i] & PRESENT))
			continue;
		mfn = pv_mfn(f, (table[i] & FRAME_MASK) >> XF_PAGE_SHIFT);
		if (mfn == PV_NO_FRAME)
			return refuse(bad, i, table[i], -ERANGE);
		table[i] = with_frame(table[i], mfn);
	}
	return 0;
}
