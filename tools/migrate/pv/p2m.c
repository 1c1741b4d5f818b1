// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pv/p2m.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xcbatch.h>

#include "guest/failure.h"

/* How often a list that changes while we look is looked at again, a millisecond apart. */
#define TRIES 1000

/* X86_PV_P2M_FRAMES has 32 bits for a pfn. */
#define PFNS_MAX (UINT64_C(1) << 32)

#define TREE_MAX ((uint64_t)PV_ENTRIES * PV_ENTRIES * PV_ENTRIES)

static int read_frame(struct guest *raw, uint64_t mfn, const uint64_t **page)
{
	void *base;
	int failed = 0;
	int rc = raw->ops->map(raw, &mfn, 1, &failed, &base);

	*page = base;
	return rc ? rc : failed;
}

static int read_table(void *data, uint64_t frame, const uint64_t **entries)
{
	return read_frame(data, frame, entries);
}

/* ---- the two forms ------------------------------------------------------ */

static int walk_list(struct pv_p2m *p, uint64_t root, uint64_t *mfns, size_t n, struct xf_error *err)
{
	const struct xcbatch_space_source source = { read_table, p->raw };
	uint64_t va = p->shared->arch.p2m_vaddr;
	struct xcbatch_space *space;
	size_t at = 0;
	int rc = xcbatch_space_open(&source, root, &space);

	if (!rc) {
		rc = xcbatch_space_translate(space, va, n, mfns, &at);
		xcbatch_space_close(space);
	}
	if (rc)
		return xf_error_set(err, rc, "The P2M list of domain %u can't be found: page %zu of the"
				    " %zu at 0x%" PRIx64 " has no frame behind it in the page tables at"
				    " mfn 0x%" PRIx64 " (%s), expected all to have one; this guest's"
				    " kernel can't be migrated.", p->raw->domid, at, n, va, root,
				    strerror(-rc));
	return 0;
}

static int bad_tree(const struct pv_p2m *p, int rc, const char *which, uint64_t mfn, struct xf_error *err)
{
	return xf_error_set(err, rc, "The P2M tree of domain %u can't be read: its %s page at mfn 0x%"
			    PRIx64 " can't be mapped (%s), expected a page of the guest's; this guest's"
			    " kernel can't be migrated.", p->raw->domid, which, mfn, strerror(-rc));
}

static int walk_tree(struct pv_p2m *p, uint64_t root, uint64_t *mfns, size_t n, struct xf_error *err)
{
	uint64_t top[PV_ENTRIES];
	const uint64_t *page;
	int rc = read_frame(p->raw, root, &page);

	if (rc)
		return bad_tree(p, rc, "top", root, err);
	memcpy(top, page, sizeof(top));
	for (size_t at = 0; at < n; at += PV_ENTRIES) {
		size_t some = n - at < PV_ENTRIES ? n - at : PV_ENTRIES;

		rc = read_frame(p->raw, top[at / PV_ENTRIES], &page);
		if (rc)
			return bad_tree(p, rc, "middle", top[at / PV_ENTRIES], err);
		memcpy(mfns + at, page, some * sizeof(*mfns));
	}
	return 0;
}

/* ---- where it lies now -------------------------------------------------- */

/*
 * Up to what the guest may ever have, half a terabyte as Linux is built, the
 * list consists of the same frame again and again, full of entries without
 * memory, and behind that of another one for pfns that can't have any: these
 * parts are cut off.
 */
static size_t without_tail(const uint64_t *mfns, size_t n)
{
	size_t same = n;

	while (n > 1 && mfns[n - 2] == mfns[n - 1]) {
		for (same = n; same > 1 && mfns[same - 2] == mfns[n - 1]; same--)
			;
		n = same - 1;
	}
	return n;
}

struct found {
	uint64_t *mfns;
	size_t n;
	uint64_t pfns;
};

/* What lies beyond no receiver would take, and looking through all of it is work without end. */
static int within_limit(struct pv_p2m *p, uint64_t pfns, struct xf_error *err)
{
	struct guest_info info;
	int rc = p->raw->ops->info(p->raw, &info);
	uint64_t limit;

	if (rc)
		return failure(err, rc, p->raw, "Looking at the state");
	limit = guest_frames_limit(&info);
	if (pfns <= limit)
		return 0;
	return xf_error_set(err, -ERANGE, "The P2M of domain %u has %" PRIu64 " entries in use, expected no more than"
			    " %" PRIu64 " for a guest of up to %" PRIu64 " MiB; this guest's kernel can't be migrated.",
			    p->raw->domid, pfns, limit, info.max_pages >> 8);
}

static int find(struct pv_p2m *p, struct found *f, struct xf_error *err)
{
	const struct arch_shared_info *arch = &p->shared->arch;
	uint64_t pfns = arch->max_pfn, list = arch->p2m_cr3 >> XCBATCH_PAGE_SHIFT;
	uint64_t tree = arch->pfn_to_mfn_frame_list_list;
	size_t n = (size_t)((pfns + PV_ENTRIES - 1) / PV_ENTRIES);
	int rc;

	if (!pfns || pfns > PFNS_MAX || (!list && (!tree || pfns > TREE_MAX)))
		return xf_error_set(err, -EINVAL, "Domain %u says that its P2M has %" PRIu64 " entries in"
				    " %s, expected 1 to %" PRIu64 "; its kernel has not started yet or"
				    " can't be migrated.", p->raw->domid, pfns,
				    list ? "a list" : tree ? "a tree" : "no place",
				    list ? PFNS_MAX : TREE_MAX);
	f->mfns = calloc(n, sizeof(*f->mfns));
	if (!f->mfns)
		return xf_error_set(err, -ENOMEM, "No memory for the %zu frames of the P2M of domain %u;"
				    " free some memory in Dom0.", n, p->raw->domid);
	rc = list ? walk_list(p, list, f->mfns, n, err) : walk_tree(p, tree, f->mfns, n, err);
	f->n = without_tail(f->mfns, n);
	/* What a receiver was told of once it must be told of again. */
	if (f->n < p->n)
		f->n = p->n < n ? p->n : n;
	f->pfns = f->n < n ? (uint64_t)f->n * PV_ENTRIES : pfns;
	if (!rc && !f->n)
		rc = xf_error_set(err, -EINVAL, "The P2M of domain %u is one frame, again and again,"
				  " expected entries for its memory; this guest's kernel can't be"
				  " migrated.", p->raw->domid);
	return rc ? rc : within_limit(p, f->pfns, err);
}

/* Which pages of the guest the list lies in. */
static int as_pfns(const struct pv_p2m *p, const struct pv_frames *frames, const struct found *f,
		   uint64_t *pfns, struct xf_error *err)
{
	for (size_t i = 0; i < f->n; i++) {
		pfns[i] = pv_pfn(frames, f->mfns[i]);
		if (pfns[i] == PV_NO_FRAME)
			return xf_error_set(err, -ERANGE, "Frame %zu of the P2M of domain %u is mfn 0x%"
					    PRIx64 ", expected a frame that belongs to the guest; this"
					    " guest's kernel can't be migrated.", i, p->raw->domid,
					    f->mfns[i]);
	}
	return 0;
}

static void drop(struct pv_p2m *p)
{
	if (p->view)
		p->raw->ops->pv->unview(p->raw, p->view, p->n);
	free(p->mfns);
	free(p->pfns);
	p->view = NULL;
	p->mfns = p->pfns = NULL;
	p->n = 0;
}

/* Takes f's array, whatever comes out; p is as it was after an error. */
static int take(struct pv_p2m *p, struct found *f, struct xf_error *err)
{
	struct pv_frames frames = p->frames;
	uint64_t *pfns = calloc(f->n, sizeof(*pfns));
	void *view = NULL;
	int rc = pfns ? p->raw->ops->pv->view(p->raw, f->mfns, f->n, false, &view) : -ENOMEM;

	if (rc) {
		failure(err, rc, p->raw, "Mapping the P2M");
	} else {
		frames.p2m = view;
		frames.pfns = f->pfns;
		rc = as_pfns(p, &frames, f, pfns, err);
	}
	if (rc) {
		if (view)
			p->raw->ops->pv->unview(p->raw, view, f->n);
		free(pfns);
		free(f->mfns);
		return rc;
	}
	drop(p);
	p->frames = frames;
	p->view = view;
	p->n = f->n;
	p->mfns = f->mfns;
	p->pfns = pfns;
	return 0;
}

static int look_once(struct pv_p2m *p, bool *moved, struct xf_error *err)
{
	struct found f = { NULL, 0, 0 };
	int rc = find(p, &f, err);

	if (!rc && p->view && f.n == p->n && f.pfns == p->frames.pfns &&
	    !memcmp(f.mfns, p->mfns, f.n * sizeof(*f.mfns))) {
		free(f.mfns);
		return 0;
	}
	if (rc) {
		free(f.mfns);
		return rc;
	}
	*moved = true;
	return take(p, &f, err);
}

static uint64_t generation(const struct pv_p2m *p)
{
	return __atomic_load_n(&p->shared->arch.p2m_generation, __ATOMIC_ACQUIRE);
}

int pv_p2m_look(struct pv_p2m *p, bool again, bool *moved, struct xf_error *err)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int rc = 0;

	*moved = false;
	if (p->view && !again && generation(p) == p->generation)
		return 0;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = generation(p);

		/* Odd: the guest is in the middle of a change. */
		if (!(before & 1)) {
			rc = look_once(p, moved, err);
			if (generation(p) == before) {
				p->generation = before;
				return rc;
			}
			/* What was wrong may have been the change's. */
			if (rc)
				*err = (struct xf_error) { .code = 0 };
		}
		nanosleep(&nap, NULL);
	}
	return xf_error_set(err, -EAGAIN, "The P2M of domain %u changed each of the %d times it was looked"
			    " at (generation %" PRIu64 "), expected it to rest for a moment; try again when"
			    " the guest's memory isn't being resized.", p->raw->domid, TRIES, generation(p));
}

/* ---- life --------------------------------------------------------------- */

int pv_p2m_open(struct pv_p2m *p, struct guest *raw, uint64_t shared_info_mfn, struct xf_error *err)
{
	void *shared;
	bool moved;
	int rc;

	*p = (struct pv_p2m) { .raw = raw };
	rc = raw->ops->pv->m2p(raw, &p->frames.m2p, &p->frames.mfns);
	if (rc)
		return failure(err, rc, raw, "Mapping Xen's M2P for the pages");
	rc = raw->ops->pv->view(raw, &shared_info_mfn, 1, false, &shared);
	if (rc)
		return failure(err, rc, raw, "Mapping the shared info page");
	p->shared = shared;
	rc = pv_p2m_look(p, true, &moved, err);
	if (rc)
		pv_p2m_close(p);
	return rc;
}

void pv_p2m_close(struct pv_p2m *p)
{
	drop(p);
	if (p->shared)
		p->raw->ops->pv->unview(p->raw, (void *)(uintptr_t)p->shared, 1);
	p->shared = NULL;
}
