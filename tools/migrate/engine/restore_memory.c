// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory behind the pages, in pieces as large as the layout allows: where most
 * of an aligned piece is asked for, all of it is taken, ahead of the pages that
 * are still to come. What no page claimed is given back when pages begin to
 * come a second time, the guest still running, and in the end: so the guest has
 * exactly the memory it had.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/restore_pages.h"

/* Pieces of 2 MiB and of 1 GiB. */
#define LARGE_ORDER 9
#define HUGE_ORDER  18

/* So many of a piece's pages in a record, and all of it is taken. */
#define ENOUGH ((1u << LARGE_ORDER) / 4)

int restore_pages_open(struct restore *r)
{
	struct restore_pages *p = calloc(1, sizeof(*p));
	int rc;

	r->pages = p;
	if (p) {
		p->limit = guest_frames_limit(&r->info);
		p->populated = calloc(xcbatch_bitmap_words(p->limit), sizeof(*p->populated));
		p->claimed = calloc(xcbatch_bitmap_words(p->limit), sizeof(*p->claimed));
	}
	if (!p || !p->populated || !p->claimed)
		return xf_error_set(r->err, -ENOMEM, "No memory to keep track of the pages of domain"
				    " %u; free some memory in Dom0.", r->guest->domid);
	rc = xf_reader_set_pfn_limit(r->reader, p->limit);
	return rc ? failure(r->err, rc, r->guest, "Limiting the pages") : 0;
}

void restore_pages_close(struct restore *r)
{
	if (!r->pages)
		return;
	free(r->pages->compare);
	free(r->pages->claimed);
	free(r->pages->populated);
	free(r->pages);
}

/* ---- giving back -------------------------------------------------------- */

/* A word at a time: the guest is suspended, and nearly all words have none. */
static uint64_t next_unclaimed(const struct restore_pages *p, uint64_t from)
{
	size_t words = xcbatch_bitmap_words(p->limit);
	uint64_t mask = ~UINT64_C(0) << from % 64;

	for (size_t i = from / 64; i < words; i++, mask = ~UINT64_C(0)) {
		uint64_t word = p->populated[i] & ~p->claimed[i] & mask;

		if (word)
			return i * 64 + (unsigned)__builtin_ctzll(word);
	}
	return p->limit;
}

int restore_give_back(struct restore *r)
{
	struct restore_pages *p = r->pages;
	uint64_t pfn = next_unclaimed(p, 0);

	while (pfn < p->limit) {
		size_t n = 0;
		int rc;

		for (; pfn < p->limit && n < GUEST_BATCH; pfn = next_unclaimed(p, pfn + 1))
			p->want[n++] = pfn;
		rc = r->guest->ops->depopulate(r->guest, p->want, n);
		if (rc)
			return failure(r->err, rc, r->guest, "Giving memory back");
		for (size_t i = 0; i < n; i++)
			xcbatch_bitmap_clear(p->populated, p->want[i]);
		p->have -= n;
	}
	return 0;
}

/* ---- getting ------------------------------------------------------------ */

static int no_room(struct restore *r, int rc)
{
	struct restore_pages *p = r->pages;
	uint64_t host = 0;

	if (rc != -ENOMEM || r->guest->ops->host_free(r->guest, &host))
		return failure(r->err, rc, r->guest, "Getting memory");
	/* Then it isn't the host that is short. */
	if (host > 2 * GUEST_BATCH)
		return xf_error_set(r->err, rc, "Getting memory for domain %u failed: it has %" PRIu64 " MiB,"
				    " was made for up to %" PRIu64 " MiB, and its stream has more; send the"
				    " guest again without giving it memory meanwhile.", r->guest->domid,
				    p->have >> 8, r->info.max_pages >> 8);
	return xf_error_set(r->err, rc, "Getting memory for domain %u failed: it has %" PRIu64 " MiB and"
			    " may need up to %" PRIu64 " MiB, but Xen has %" PRIu64 " MiB free for guests;"
			    " free memory on this host.", r->guest->domid, p->have >> 8,
			    r->info.max_pages >> 8, host >> 8);
}

/* Of the aligned piece that pfn lies in: nothing is populated, and the domain may have all of it. */
static bool free_for(const struct restore_pages *p, uint64_t max, uint64_t pfn, unsigned order)
{
	uint64_t first = pfn >> order << order, frames = UINT64_C(1) << order;

	return !p->careful && first + frames <= p->limit && p->have + frames <= max &&
	       xcbatch_bitmap_next(p->populated, first + frames, first) == first + frames;
}

/* Whether Xen gave it. */
static bool got_piece(struct restore *r, uint64_t pfn, unsigned order)
{
	struct restore_pages *p = r->pages;
	uint64_t first = pfn >> order << order, frames = UINT64_C(1) << order;

	if (!free_for(p, r->info.max_pages, pfn, order) ||
	    r->guest->ops->populate_piece(r->guest, first, order))
		return false;
	for (uint64_t i = 0; i < frames; i += 64)
		p->populated[(first + i) / 64] = ~UINT64_C(0);
	p->have += frames;
	return true;
}

/* How many of want[from ...) lie in the same piece of 2 MiB, one after the other. */
static size_t in_piece(const struct restore_pages *p, size_t from, size_t n)
{
	size_t i = from;

	while (i < n && p->want[i] >> LARGE_ORDER == p->want[from] >> LARGE_ORDER)
		i++;
	return i - from;
}

/* Takes what can be had in large pieces; leaves the rest in want, and returns how many that are. */
static size_t in_pieces(struct restore *r, size_t n)
{
	struct restore_pages *p = r->pages;
	size_t left = 0, same;

	for (size_t i = 0; i < n; i += same) {
		same = in_piece(p, i, n);
		if (xcbatch_bitmap_test(p->populated, p->want[i]))
			continue;	/* by the piece before */
		if (same >= ENOUGH &&
		    ((same == 1u << LARGE_ORDER && got_piece(r, p->want[i], HUGE_ORDER)) ||
		     got_piece(r, p->want[i], LARGE_ORDER)))
			continue;
		memmove(p->want + left, p->want + i, same * sizeof(p->want[0]));
		left += same;
	}
	return left;
}

static int get(struct restore *r, size_t n)
{
	struct restore_pages *p = r->pages;
	int rc;

	if (!r->job->single_pages)
		n = in_pieces(r, n);
	rc = n ? r->guest->ops->populate(r->guest, p->want, n) : 0;
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		xcbatch_bitmap_set(p->populated, p->want[i]);
	p->have += n;
	return 0;
}

/* ---- a record ----------------------------------------------------------- */

/* Those without memory yet, each once, into want. They are marked on the way, and unmarked by forget. */
static size_t without_memory(struct restore_pages *p, const uint64_t *words, size_t n)
{
	size_t wanted = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t pfn = xf_word_pfn(words[i]);

		if (!xf_page_type_populates(xf_word_type(words[i])) ||
		    xcbatch_bitmap_test(p->populated, pfn))
			continue;
		xcbatch_bitmap_set(p->populated, pfn);
		p->want[wanted++] = pfn;
	}
	for (size_t i = 0; i < wanted; i++)
		xcbatch_bitmap_clear(p->populated, p->want[i]);
	return wanted;
}

/* What the sender had as memory and has as holes now. Whether there was any. */
static bool renounce(struct restore_pages *p, const uint64_t *words, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		uint64_t pfn = xf_word_pfn(words[i]);

		if (xf_page_type_populates(xf_word_type(words[i])))
			continue;
		any = any || xcbatch_bitmap_test(p->claimed, pfn);
		xcbatch_bitmap_clear(p->claimed, pfn);
	}
	return any;
}

/* Pages that are new and come without contents go to want: Xen may hand out memory with old contents. */
static void claim(struct restore_pages *p, const uint64_t *words, size_t n)
{
	p->zeroes = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t pfn = xf_word_pfn(words[i]);
		unsigned type = xf_word_type(words[i]);

		if (!xf_page_type_populates(type))
			continue;
		if (type == XF_PAGE_XALLOC && !xcbatch_bitmap_test(p->claimed, pfn))
			p->want[p->zeroes++] = pfn;
		xcbatch_bitmap_set(p->claimed, pfn);
	}
}

/* Contents of a page that has some already: the sender has been through all of memory. */
static bool comes_again(const struct restore_pages *p, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (xf_page_type_has_data(xf_word_type(words[i])) &&
		    xcbatch_bitmap_test(p->claimed, xf_word_pfn(words[i])))
			return true;
	return false;
}

/* Nothing is taken ahead any more, and what was and isn't needed goes. */
static int settle(struct restore *r)
{
	r->pages->careful = true;
	return restore_give_back(r);
}

static int get_missing(struct restore *r, const uint64_t *words, size_t n)
{
	size_t wanted = without_memory(r->pages, words, n);

	return wanted ? get(r, wanted) : 0;
}

int restore_populate(struct restore *r, const uint64_t *words, size_t n)
{
	struct restore_pages *p = r->pages;
	bool gone = renounce(p, words, n);
	int rc = gone || (!p->careful && comes_again(p, words, n)) ? settle(r) : 0;

	if (rc)
		return rc;
	rc = get_missing(r, words, n);
	if (rc == -ENOMEM && !p->careful) {
		rc = settle(r);
		if (rc)
			return rc;
		rc = get_missing(r, words, n);
	}
	if (rc)
		return no_room(r, rc);
	claim(p, words, n);
	return 0;
}
