/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libxcbatch: windows onto guest memory, dirty tracking and page operations
 * for Xen toolstacks.
 *
 * Errors:  every function that can fail returns 0 or a negative errno. Results
 *          for single frames are an array of their own, 0 or a negative errno
 *          a frame. Nothing prints, nothing exits.
 * Threads: different handles, windows, trackers and spaces may be used from
 *          different threads at once; each one by one thread at a time.
 *          Functions on bitmaps named "atomic" may be called from many.
 * Fork:    a child inherits no mapping: touching a window there is a fault. In
 *          a child, call nothing but xcbatch_close (windows first).
 * Units:   gfn = guest frame number, 4096 bytes a frame.
 */
#ifndef XCBATCH_H
#define XCBATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define XCBATCH_PAGE_SHIFT 12
#define XCBATCH_PAGE_SIZE  4096u

/* ---- handle ------------------------------------------------------------ */

struct xcbatch;

/*
 * Opens /dev/xen/privcmd and looks which driver answers.
 * -ENOENT: no such device (not a Xen Dom0, or xen-privcmd not loaded);
 * -EACCES: no permission. On success *out is owned by the caller.
 */
int  xcbatch_open(struct xcbatch **out);
void xcbatch_close(struct xcbatch *xb); /* NULL is allowed; destroy its windows first */

/*
 * Puts one sentence about an error of this library into buf, as snprintf does:
 * what was found, what was expected, what to do. err: the negative errno.
 * -EPROTO names the version of the running Xen and the one expected.
 */
int  xcbatch_explain(int err, char *buf, size_t size);

struct xcbatch_driver {
	int  batched;		/* 1: xenferry's driver, windows are replaced in place */
	unsigned features;	/* XENFERRY_FEATURE_* of xen/xenferry_privcmd.h, else 0 */
	char version[32];	/* the module's version, "" for the stock driver */
};
void xcbatch_driver(const struct xcbatch *xb, struct xcbatch_driver *out);

/*
 * What xenferry's driver did since it was loaded, for all processes; take the
 * difference of two readings. -ENOTTY: the stock driver, which counts nothing.
 */
struct xcbatch_counters {
	uint64_t map_hypercalls;   /* made to map or replace */
	uint64_t map_entries;      /* frames asked of them */
	uint64_t clear_hypercalls; /* made to clear, flushes not included */
	uint64_t clear_entries;    /* entries they cleared */
	uint64_t flushes;          /* TLB flushes asked of the hypervisor */
	uint64_t failed_entries;   /* frames that could not be mapped */
};
int xcbatch_counters(const struct xcbatch *xb, struct xcbatch_counters *out);

/* ---- windows ----------------------------------------------------------- */

/*
 * A window is a stretch of address space onto frames of one domain. Mapping
 * new frames replaces old ones in place; over the stock driver the library
 * does that with a fresh mapping at the same address, slower.
 */
struct xcbatch_window;

#define XCBATCH_READ  1
#define XCBATCH_WRITE 2

#define XCBATCH_WINDOW_MAX 1048576u

/*
 * frames: 1 to XCBATCH_WINDOW_MAX slots. prot: XCBATCH_READ, or
 * XCBATCH_READ | XCBATCH_WRITE.
 */
int  xcbatch_window_create(struct xcbatch *xb, uint32_t domid, size_t frames,
			   int prot, struct xcbatch_window **out);
void xcbatch_window_destroy(struct xcbatch_window *w); /* NULL is allowed */

/* First byte of slot 0; it stays the same for the window's life. */
void  *xcbatch_window_addr(const struct xcbatch_window *w);
size_t xcbatch_window_frames(const struct xcbatch_window *w);

/*
 * Maps gfns[i] at slot first + i, over whatever was there. errs[i] becomes 0
 * or the frame's error; a slot with an error holds nothing afterwards and must
 * not be touched. Returns:
 *   0        all mapped
 *   -ENXIO   one or more frames failed, see errs
 *   -ESTALE  stock driver only, see below
 *   other    the call itself failed, errs[] is that error for all; no slot of
 *            the range may be touched
 * Frames that are paged out (-ENOENT) are tried again, with a pause between
 * tries, for up to XCBATCH_PAGING_TRIES tries; then they stay -ENOENT.
 */
#define XCBATCH_PAGING_TRIES 100
int xcbatch_window_map(struct xcbatch_window *w, size_t first,
		       const uint64_t *gfns, size_t n, int *errs);

/*
 * Empties n slots from first on. They must not be touched until mapped again.
 *
 * The stock driver can't take part of a mapping away. There a call to map or
 * clear that covers only part of what an earlier map call covered takes all of
 * that away and maps the rest afresh, so for some moments the rest must not be
 * touched either. If a frame of the rest can't be mapped again the call returns
 * -ESTALE, and none of the slots those earlier calls covered may be touched.
 * Mapping over the same slots, or clearing before mapping fewer, costs nothing.
 */
int xcbatch_window_clear(struct xcbatch_window *w, size_t first, size_t n);

/* ---- bitmaps ----------------------------------------------------------- */

/* Bit i is bit (i % 64) of word i / 64, as XEN_DOMCTL_SHADOW_OP_CLEAN writes it. */
size_t xcbatch_bitmap_words(uint64_t bits);
int    xcbatch_bitmap_test(const uint64_t *map, uint64_t bit);
void   xcbatch_bitmap_set(uint64_t *map, uint64_t bit);
void   xcbatch_bitmap_clear(uint64_t *map, uint64_t bit);
void   xcbatch_bitmap_fill(uint64_t *map, uint64_t bits);	/* the first `bits` set, the rest of the last word 0 */
void   xcbatch_bitmap_zero(uint64_t *map, uint64_t bits);
void   xcbatch_bitmap_or(uint64_t *into, const uint64_t *from, uint64_t bits);
uint64_t xcbatch_bitmap_count(const uint64_t *map, uint64_t bits);
/* The first set bit at or after `from`; `bits` if there is none. */
uint64_t xcbatch_bitmap_next(const uint64_t *map, uint64_t bits, uint64_t from);
void     xcbatch_bitmap_atomic_set(uint64_t *map, uint64_t bit);
/* Takes a whole word: returns what it held and leaves 0. */
uint64_t xcbatch_bitmap_atomic_claim(uint64_t *map, size_t word);

/* ---- pages ------------------------------------------------------------- */

int  xcbatch_page_is_zero(const void *page);	/* page: 4096 bytes, 16-byte aligned */
void xcbatch_page_copy(void *to, const void *from, size_t pages);

/* ---- dirty tracking ---------------------------------------------------- */

struct xcbatch_dirty;

/*
 * Starts the hypervisor's log-dirty for a domain. frames: how many gfns, from 0,
 * the bitmaps of this tracker cover.
 * -EOPNOTSUPP: the hypervisor can't do it for this guest (Debian's Xen has no
 * log-dirty for PV guests); -EBUSY: it is on already, by somebody else (or the
 * hypervisor refuses the domain, see xcbatch_dirty_takeover: it answers alike);
 * -ESRCH: no such domain; -EPROTO: the running Xen speaks another
 * control interface than this library was built for.
 */
int xcbatch_dirty_start(uint32_t domid, uint64_t frames, struct xcbatch_dirty **out);

/*
 * As xcbatch_dirty_start, but where log-dirty is on already it is switched off
 * first: a device model's tracking of video memory, or what a killed migration
 * left behind. -EINVAL: the hypervisor refuses all the same (the caller's own
 * domain, one without vCPUs, one with a passed-through device).
 */
int xcbatch_dirty_takeover(uint32_t domid, uint64_t frames, struct xcbatch_dirty **out);

/*
 * Fills map (xcbatch_bitmap_words(frames) words, overwritten) with the frames
 * written since the last collect, and begins anew. *dirty, if not NULL, gets
 * how many there are.
 */
int xcbatch_dirty_collect(struct xcbatch_dirty *d, uint64_t *map, uint64_t *dirty);

/*
 * As xcbatch_dirty_collect, for the last time, with the domain suspended:
 * frames that the hypervisor itself holds mapped for writing count as written.
 */
int xcbatch_dirty_collect_last(struct xcbatch_dirty *d, uint64_t *map, uint64_t *dirty);

/* How many frames are dirty now, without beginning anew. */
int xcbatch_dirty_peek(struct xcbatch_dirty *d, uint64_t *dirty);

/* Log-dirty off; frees d. NULL is allowed. Returns what switching off returned. */
int xcbatch_dirty_stop(struct xcbatch_dirty *d);

/* Frees d alone: somebody else switches log-dirty off. NULL is allowed. */
void xcbatch_dirty_leave_on(struct xcbatch_dirty *d);

/* ---- content tracking -------------------------------------------------- */

/*
 * For guests whose hypervisor has no log-dirty: of each page that was sent a
 * hash is kept, and a page that hashes to something else has been written.
 * XXH3, 128 bits, with a secret drawn at random for each tracker: two different
 * pages are taken for the same once in 2^128 comparisons.
 */
struct xcbatch_content;

/*
 * frames: how many, from 0. Memory is taken where something is noted, 16 bytes a
 * frame in pieces of 4096 frames. -EINVAL, -ENOMEM; -EIO: no random numbers.
 */
int  xcbatch_content_create(uint64_t frames, struct xcbatch_content **out);
void xcbatch_content_destroy(struct xcbatch_content *c); /* NULL is allowed */

/*
 * Keeps the hash of these 4096 bytes (16-byte aligned) and of the tag, over what
 * was noted before. They must be the very bytes that were sent: of a page that a
 * running guest can write to, hash and send one copy. tag: whatever else matters
 * about the page, such as its type. -EINVAL; -ENOMEM: nothing has changed.
 */
int xcbatch_content_note(struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page);

/*
 * 1: this page and tag are not what was noted, or nothing was; else 0. May be
 * called by many threads at once while no other function of the tracker runs.
 */
int xcbatch_content_would_differ(const struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page);

/* Nothing is noted for the frame any more. */
void xcbatch_content_forget(struct xcbatch_content *c, uint64_t frame);

/* ---- guest-virtual addresses ------------------------------------------- */

/*
 * A space is what a root of x86-64 four-level page tables maps, as a 64-bit PV
 * guest has them: their entries hold machine frames. What was found is kept, at
 * most some 4 MiB of it, until it is invalidated; that a page is not mapped is
 * never kept. Tables are taken for hostile: whatever they hold, a translation
 * ends, and its frames are numbers below 2^40, no more: only mapping one tells
 * whether it is the guest's.
 */
struct xcbatch_space;

struct xcbatch_space_source {
	/*
	 * The 4096 bytes of a table's frame, 8-byte aligned, valid until the
	 * next call; they may change meanwhile. 0 or a negative errno.
	 */
	int (*table)(void *data, uint64_t frame, const uint64_t **entries);
	void *data;
};

/*
 * src is copied, what data points at must outlive the space. root_frame: of the
 * fourth-level table (for the P2M list of a PV guest, the frame in p2m_cr3).
 * -EINVAL: root_frame is not below 2^40. Nothing is read yet.
 */
int  xcbatch_space_open(const struct xcbatch_space_source *src, uint64_t root_frame,
			struct xcbatch_space **out);
void xcbatch_space_close(struct xcbatch_space *s); /* NULL is allowed */

/*
 * frames[i] becomes the frame behind the virtual page (va >> 12) + i, for n
 * pages; of large pages (2 MiB, 1 GiB) the frame of that 4096 bytes' piece. In
 * one call a table is read once for all the pages below it, but for the lowest
 * once more where a page is not mapped. Returns:
 *   0        all translated
 *   -EFAULT  a page is not mapped, or lies where Xen is in a PV guest
 *            (0xffff800000000000 to 0xffff87ffffffffff)
 *   -EINVAL  the range is not canonical from end to end, or wraps; nothing read
 *   -ENOMEM
 *   other    what src->table returned
 * On an error *at, if not NULL, is how many pages were translated before it, and
 * so which page it was; frames[] beyond them is unchanged.
 */
int  xcbatch_space_translate(struct xcbatch_space *s, uint64_t va, size_t n,
			     uint64_t *frames, size_t *at);

/*
 * Forgets what is known of n pages from va on, and of those that came from the
 * same table or large page: the guest may have changed them.
 */
void xcbatch_space_invalidate(struct xcbatch_space *s, uint64_t va, size_t n);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
