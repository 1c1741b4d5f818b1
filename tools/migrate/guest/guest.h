/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a guest is to the engine. Behind the ops stands a domain of the running
 * Xen (guest_xen_open) or, in the tests, a simulated one.
 *
 * Every op returns 0 or a negative errno; results for single frames are an
 * array of their own.
 */
#ifndef XENFERRY_GUEST_H
#define XENFERRY_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUEST_PAGE_SIZE 4096u

/* The most frames one call of types or map takes; Xen's own limit for types. */
#define GUEST_BATCH 1024u

/* The most threads that look at its memory at the same time. */
#define GUEST_LANES 16u

struct guest_info {
	bool hvm;		/* HVM or PVH */
	bool shut_down;
	bool suspended;		/* shut down, and the reason is suspend */
	unsigned reason;	/* SHUTDOWN_*, if shut_down */
	uint64_t frames;	/* 0 from the backend of a PV guest; else highest gfn in use + 1 */
	uint64_t max_pages;	/* what Xen lets it have */
	unsigned xen_major, xen_minor;
};

/*
 * Frames such a guest may have are below this: its memory twice (what a balloon has plugged in above the rest), the
 * hole for devices below 4 GiB, and 1 GiB to spare.
 */
uint64_t guest_frames_limit(const struct guest_info *info);

/* Who gets such a blob frees its data with free(). */
struct guest_blob {
	void *data;
	size_t size;
};

struct guest_tsc {
	uint32_t mode, khz, incarnation;
	uint64_t nsec;
};

struct guest_seed {
	uint64_t console_gfn, store_gfn;
	uint32_t console_domid, store_domid;
};

struct guest;

/* ---- what only PV guests have ------------------------------------------- */

struct guest_pv_info {
	unsigned width;			/* bytes of the guest's words: 4 or 8 */
	unsigned vcpus;			/* ids are below that */
	uint64_t shared_info_mfn;
};

/* The state of a vCPU, each part as Xen gives it and takes it. */
enum guest_vcpu_part {
	GUEST_VCPU_BASIC,		/* vcpu_guest_context_t */
	GUEST_VCPU_EXTENDED,		/* struct xen_domctl_ext_vcpucontext, as long as Xen says it is */
	GUEST_VCPU_XSAVE,
	GUEST_VCPU_MSRS,
	GUEST_VCPU_PARTS
};

/*
 * A backend's view of a PV guest: frames are the machine's own (mfn), which one
 * stands behind which of the guest's (pfn) is the guest's P2M and Xen's M2P to
 * say. The memory ops of struct guest_ops take mfns then. pv/ makes of it a
 * guest of pfns.
 */
struct guest_pv_ops {
	int (*info)(struct guest *g, struct guest_pv_info *out);
	/* m2p[mfn] for mfn < *frames, read only; the backend's, until close. Xen changes it all the time. */
	int (*m2p)(struct guest *g, const uint64_t **m2p, uint64_t *frames);
	/* Maps n frames next to each other for as long as wanted, all or none. The shared info page, too. */
	int (*view)(struct guest *g, const uint64_t *mfns, size_t n, bool writable, void **base);
	void (*unview)(struct guest *g, void *base, size_t n);
	/* Nothing stays mapped by map and map_lane: a frame mapped for writing can't become a page table. */
	int (*unmap)(struct guest *g);
	/* As populate, for pfns; mfns[i] is the frame that came. n up to GUEST_BATCH. */
	int (*populate)(struct guest *g, const uint64_t *pfns, size_t n, uint64_t *mfns);
	/* types[i]: XF_PAGE_L1TAB to XF_PAGE_L4TAB. n up to GUEST_BATCH. Some may be pinned after an error. */
	int (*pin)(struct guest *g, const uint64_t *mfns, const uint8_t *types, size_t n);
	int (*vcpu_online)(struct guest *g, unsigned vcpu, bool *online);
	/* Size 0: the vCPU has no such part. */
	int (*vcpu_get)(struct guest *g, unsigned vcpu, enum guest_vcpu_part part, struct guest_blob *out);
	int (*vcpu_set)(struct guest *g, unsigned vcpu, enum guest_vcpu_part part,
			const struct guest_blob *in);
	/* As grants_seed; the frames are mfns. */
	int (*grants_seed)(struct guest *g, const struct guest_seed *seed);
};

struct guest_ops {
	/* Releases everything, windows and log-dirty too. */
	void (*close)(struct guest *g);
	int (*info)(struct guest *g, struct guest_info *out);

	/* ---- memory ---- */

	/* types[i]: XF_PAGE_* of stream/wire.h, which are Xen's; n up to GUEST_BATCH. */
	int (*types)(struct guest *g, const uint64_t *gfns, size_t n, uint8_t *types);
	/*
	 * Maps gfns[i] at *base + i pages, over what was mapped before; n up to
	 * GUEST_BATCH. 0 also if single frames failed: see errs.
	 */
	int (*map)(struct guest *g, const uint64_t *gfns, size_t n, int *errs, void **base);
	/*
	 * As map, to be read only, into a window of the lane's own (lane below GUEST_LANES) that no
	 * other call touches. This, types and normalise may be called by several threads at once, each
	 * with a lane of its own; no other op meanwhile.
	 */
	int (*map_lane)(struct guest *g, unsigned lane, const uint64_t *gfns, size_t n, int *errs, void **base);
	/*
	 * NULL where pages go out as they lie in memory. Else types are asked before each use of
	 * a page, and of one that is a page table (any but XF_PAGE_NOTAB) this makes the copy the
	 * stream has: 4096 bytes. -EAGAIN: an entry has no translation now, as the guest is changing
	 * it or the page is no table any more; the page is left for the last copy. No excuse
	 * when the guest is suspended.
	 */
	int (*normalise)(struct guest *g, uint8_t type, const void *page, void *copy);
	/* Puts memory behind n frames that have none, n up to GUEST_BATCH. Nothing is changed by an error. */
	int (*populate)(struct guest *g, const uint64_t *gfns, size_t n);
	/* The same for 2^order frames from an aligned one on, in one piece; nothing is changed by an error. */
	int (*populate_piece)(struct guest *g, uint64_t gfn, unsigned order);
	/* Takes the memory behind n frames away again, n up to GUEST_BATCH. */
	int (*depopulate)(struct guest *g, const uint64_t *gfns, size_t n);
	/* How many pages the guest has now. */
	int (*held)(struct guest *g, uint64_t *pages);
	/* Pages the host could still give. */
	int (*host_free)(struct guest *g, uint64_t *pages);

	/* ---- log-dirty ---- */

	/*
	 * For a live save without log-dirty: what dirty_start does besides, ended by dirty_stop.
	 * -EALREADY (of either): somebody else has the domain, and had it still after a wait.
	 */
	int (*guard_start)(struct guest *g);
	int (*dirty_start)(struct guest *g, uint64_t frames);
	/* last: the guest is suspended; what Xen itself holds mapped counts as written. */
	int (*dirty_collect)(struct guest *g, bool last, uint64_t *map, uint64_t *dirty);
	int (*dirty_peek)(struct guest *g, uint64_t *dirty);
	/* Fine when it isn't on. */
	int (*dirty_stop)(struct guest *g);
	/*
	 * The same, done by somebody else when the guest runs again or is gone, soon in any
	 * case. An error: nobody does it, all is as before. NULL: can't.
	 */
	int (*dirty_stop_later)(struct guest *g);

	/*
	 * The guest gets so many percent of the CPU time it may have; 100 as it was
	 * found. Undone by close and should we be killed; between dirty_start or
	 * guard_start and dirty_stop only.
	 */
	int (*throttle)(struct guest *g, unsigned percent);

	/* ---- state ---- */

	int (*param_get)(struct guest *g, uint32_t index, uint64_t *value);
	int (*param_set)(struct guest *g, uint32_t index, uint64_t value);
	int (*tsc_get)(struct guest *g, struct guest_tsc *out);
	int (*tsc_set)(struct guest *g, const struct guest_tsc *tsc);
	int (*context_get)(struct guest *g, struct guest_blob *out);
	int (*context_set)(struct guest *g, const struct guest_blob *context);
	/* Either may come out with size 0. */
	int (*policy_get)(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs);
	/* why: what Xen objects to ("" if it doesn't say). */
	int (*policy_set)(struct guest *g, const struct guest_blob *cpuid,
			  const struct guest_blob *msrs, char *why, size_t size);
	int (*grants_seed)(struct guest *g, const struct guest_seed *seed);

	const struct guest_pv_ops *pv;	/* NULL: a backend that knows no PV guests */
};

struct guest {
	const struct guest_ops *ops;
	uint32_t domid;
};

void guest_blob_free(struct guest_blob *b);

#endif
