/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which frame of the machine (mfn) stands behind which of the guest's (pfn).
 * Both directions have to agree: the P2M is the guest's own, and may say
 * anything; the M2P is Xen's, and changes while we look.
 */
#ifndef XENFERRY_PV_FRAMES_H
#define XENFERRY_PV_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#define PV_NO_FRAME UINT64_MAX

/* Entries in a page, of a page table or of the P2M, for 64-bit guests. */
#define PV_ENTRIES 512u

struct pv_frames {
	const uint64_t *p2m;
	uint64_t pfns;		/* entries of p2m */
	const uint64_t *m2p;
	uint64_t mfns;		/* entries of m2p */
};

/* Somebody may write there at this moment: read it once. */
static inline uint64_t pv_entry(const uint64_t *table, uint64_t i)
{
	return __atomic_load_n(&table[i], __ATOMIC_RELAXED);
}

/* PV_NO_FRAME: none, or they don't agree. */
static inline uint64_t pv_mfn(const struct pv_frames *f, uint64_t pfn)
{
	uint64_t mfn = pfn < f->pfns ? pv_entry(f->p2m, pfn) : PV_NO_FRAME;

	return mfn < f->mfns && pv_entry(f->m2p, mfn) == pfn ? mfn : PV_NO_FRAME;
}

static inline uint64_t pv_pfn(const struct pv_frames *f, uint64_t mfn)
{
	uint64_t pfn = mfn < f->mfns ? pv_entry(f->m2p, mfn) : PV_NO_FRAME;

	return pfn < f->pfns && pv_entry(f->p2m, pfn) == mfn ? pfn : PV_NO_FRAME;
}

/* A pfn without memory becomes a frame the machine doesn't have, and so gets its error where it is mapped. */
static inline void pv_to_map(const struct pv_frames *f, const uint64_t *pfns, size_t n, uint64_t *mfns)
{
	for (size_t i = 0; i < n; i++) {
		mfns[i] = pv_mfn(f, pfns[i]);
		if (mfns[i] == PV_NO_FRAME)
			mfns[i] = f->mfns;
	}
}

#endif
