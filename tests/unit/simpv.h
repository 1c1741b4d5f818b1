/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A PV guest's backend made of a memory file: a machine whose frames are
 * scattered over guest and others, with Xen's rules for page tables; in it a
 * guest that has real tables, a P2M, start info and vCPUs, and that changes all
 * of them while it runs. Any call can fail on demand.
 */
#ifndef SIMPV_H
#define SIMPV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xenctrl.h>	/* before any of xen/, which it wants as tools see it */

#include "guest/guest.h"

#define SIMPV_VCPUS   4
#define SIMPV_VIEWS   8
#define SIMPV_PROCS   6
#define SIMPV_EXT     128u
#define SIMPV_ENTRIES 512u
#define SIMPV_NONE    UINT64_MAX

/* Entries of page tables. */
#define SIMPV_PRESENT UINT64_C(0x001)
#define SIMPV_RW      UINT64_C(0x002)
#define SIMPV_LARGE   UINT64_C(0x080)
#define SIMPV_FLAGS   UINT64_C(0xfff0000000000fff)

enum simpv_owner { SIMPV_FREE, SIMPV_GUEST, SIMPV_XEN, SIMPV_OTHER };

/* What a frame is used as: a page table of level 1 to 4, or one of these. */
enum { SIMPV_NO_TYPE = 0, SIMPV_WRITABLE = 5, SIMPV_SEGMENTS = 6 };

struct simpv_frame {
	uint8_t owner, type;
	bool pinned, doomed;	/* doomed: given back, but something still uses it */
	uint32_t uses;		/* as `type` */
	uint32_t refs;		/* any other way */
};

struct simpv_view {
	char *base;
	uint64_t *mfns;
	size_t n;
	bool writable;
};

struct simpv_vcpu {
	bool online, set;
	unsigned order;		/* in what order vcpu_set got its parts: a digit each */
	struct guest_blob parts[GUEST_VCPU_PARTS];
};

/* Four tables that a process has of its own, in pfns; level 1 to 4. */
struct simpv_proc {
	bool there, linked;
	uint64_t table[5];
};

struct simpv {
	struct guest base;
	pthread_mutex_t lock;
	uint64_t pfns;			/* room for the guest's */
	uint64_t mfns;			/* frames of the machine */
	uint64_t max_pfn;		/* entries of the guest's P2M */
	int memory;			/* file: mfn n at n pages */
	char *direct;
	struct simpv_frame *frame;
	uint64_t *m2p;
	uint64_t *mfn;			/* of each pfn, as it really is */
	uint64_t *stock, n_free;	/* free frames, shuffled */
	uint64_t shared_mfn;
	char *window, *lanes[GUEST_LANES];
	uint64_t window_mfns[GUEST_BATCH];
	size_t window_n;
	bool writable;
	struct simpv_view views[SIMPV_VIEWS];
	unsigned width;			/* of the guest's words; 8 */
	unsigned vcpus;
	struct simpv_vcpu vcpu[SIMPV_VCPUS];
	struct guest_info info;
	struct guest_tsc tsc;
	bool tsc_is_set;
	struct guest_blob cpuid, msrs;
	struct guest_seed seeded;
	bool is_seeded;
	unsigned cap;
	uint64_t held, held_limit;	/* pages it has; Xen's limit for the domain */

	bool no_log_dirty;		/* as Debian's Xen is built */
	uint64_t *dirty;		/* by pfn; NULL: off */
	uint64_t tracked;
	bool guarded;			/* between dirty_start or guard_start and dirty_stop */
	bool last_collected;
	unsigned starts, stops;

	/* The guest's own view of itself. */
	uint64_t *leaf;			/* pfns of the P2M's pages */
	uint64_t n_leaf, missing;	/* missing: the page that stands for many */
	uint64_t direct_l1_first, p2m_l1_first, p2m_l1_missing, fix_l1;
	uint64_t pool_next, pool_end;	/* pfns for new tables */
	struct simpv_proc proc[SIMPV_PROCS];
	uint64_t low, mid, high;	/* data pages it works on: [low, high), those processes map below mid */

	/* While it isn't suspended, called in many ops, after `calm` of them. */
	void (*run)(struct simpv *s);
	uint64_t seed;
	unsigned calm;
	unsigned runs, remaps, churns, extended, balloon_out, balloon_in;

	unsigned fail_at;		/* the call that fails with fail_with, counted from 1; 0: none */
	int fail_with;
	unsigned calls;
	const char *failed;		/* which it was */
};

/* What a source is like. */
struct simpv_shape {
	uint64_t pages;		/* with memory, from pfn 0 on */
	uint64_t max_pfn;	/* entries of its P2M; 0: as many as pages */
	uint64_t hole_from, hole_to;
	unsigned vcpus;
	bool tree;		/* a three-level tree says where the P2M is, no list */
};

/* A machine and a domain without memory, made for up to max_pages in pfns below `pfns`. */
void simpv_init(struct simpv *s, uint64_t pfns, uint64_t max_pages, unsigned vcpus, bool writable);
/* The same with a running guest in it. */
void simpv_boot(struct simpv *s, const struct simpv_shape *shape);
/* Frees it; everything must have been switched off, unmapped and given back. */
void simpv_free(struct simpv *s);
void simpv_expect_quiet(const struct simpv *s);

/* What the guest does when it is asked to suspend. */
void simpv_suspend(struct simpv *s);

/* ---- memory (simpv.c) ---- */

char *simpv_frame_at(const struct simpv *s, uint64_t mfn);
char *simpv_page(const struct simpv *s, uint64_t pfn);
shared_info_t *simpv_shared(const struct simpv *s);
vcpu_guest_context_t *simpv_registers(struct simpv *s, unsigned vcpu);
void simpv_dirty(struct simpv *s, uint64_t pfn);
/* SIMPV_NONE: the machine has none. */
uint64_t simpv_take_frame(struct simpv *s, uint64_t pfn);
void simpv_give_frame(struct simpv *s, uint64_t mfn);
void simpv_maybe_release(struct simpv *s, uint64_t mfn);
uint64_t simpv_random(struct simpv *s);
/* XF_PAGE_* */
uint8_t simpv_type(const struct simpv *s, uint64_t mfn);
/* What Xen checks of a vCPU's registers; the uses stay with the vCPU. */
int simpv_take_registers(struct simpv *s, const vcpu_guest_context_t *v);

/* ---- Xen's rules (simpv_mmu.c): 0 or a negative errno ---- */

int  simpv_get_type(struct simpv *s, uint64_t mfn, unsigned type);
void simpv_put_type(struct simpv *s, uint64_t mfn);
int  simpv_pin(struct simpv *s, uint64_t mfn, unsigned level);
int  simpv_unpin(struct simpv *s, uint64_t mfn);
int  simpv_update(struct simpv *s, uint64_t table_mfn, unsigned index, uint64_t entry);

/* ---- the guest (simpv_guest.c) ---- */

uint64_t *simpv_p2m(const struct simpv *s, uint64_t pfn);
void simpv_write(struct simpv *s, uint64_t pfn, uint64_t value);
bool simpv_balloon_out(struct simpv *s, uint64_t pfn);
bool simpv_balloon_in(struct simpv *s, uint64_t pfn);
/* A missing part of the P2M gets a page of its own. False: none is missing. */
bool simpv_extend(struct simpv *s);
/* For `run`. */
void simpv_work(struct simpv *s);	/* writes */
void simpv_churn(struct simpv *s);	/* and processes come and go */
void simpv_remap(struct simpv *s);	/* and pages get other frames */
void simpv_balloon(struct simpv *s);	/* and pages come and go */
void simpv_grow(struct simpv *s);	/* and the P2M grows */

/* ---- comparing (simpv_compare.c) ---- */

/* The guest that arrived, its machine's frames apart. */
void simpv_expect_same(struct simpv *from, struct simpv *to);

#endif
