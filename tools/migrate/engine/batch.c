// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "guest/failure.h"

/* A receiver gets memory in pieces of 2 MiB where all of one is in a record: a batch has no part of one if it has to. */
#define LARGE_PAGES 512

/* How many pages go together, at most GUEST_BATCH; chosen by measurement: docs/engine.md. */
#ifndef BATCH_PAGES
#define BATCH_PAGES GUEST_BATCH
#endif

/*
 * While the guest runs, what was memory when it was asked is taken for memory:
 * should it have gone it can't be mapped, and the last copy asks about it.
 * Where there are page tables any page may have become one.
 */
static bool taken_for_ram(const struct batch *b, uint64_t pfn)
{
	return !b->guest->ops->normalise && !b->distrust && b->running && (!b->fresh || b->looked) && xcbatch_bitmap_test(b->ram, pfn);
}

static int take_type(struct batch *b, size_t i, uint8_t type, struct xf_error *err)
{
	if (!xf_page_type_known(type))
		return xf_error_set(err, -EPROTO, "Xen gave type 0x%x for pfn 0x%" PRIx64 " of domain %u,"
				    " expected one the stream has a word for; use a xenferry made for"
				    " this Xen.", type, b->pfns[i], b->guest->domid);
	b->types[i] = type;
	if (xf_page_type_has_data(type)) {
		xcbatch_bitmap_set(b->ram, b->pfns[i]);
		return 0;
	}
	xcbatch_bitmap_clear(b->ram, b->pfns[i]);
	if (b->sent)
		xcbatch_content_forget(b->sent, b->pfns[i]);
	return 0;
}

static int ask_types(struct batch *b, struct xf_error *err)
{
	size_t n = 0, answer = 0;
	int rc;

	for (size_t i = 0; i < b->n; i++)
		if (!taken_for_ram(b, b->pfns[i]))
			b->gfns[n++] = b->pfns[i];
	rc = n ? b->guest->ops->types(b->guest, b->gfns, n, b->asked) : 0;
	if (rc)
		return failure(err, rc, b->guest, "Asking for the types of pages");
	for (size_t i = 0; !rc && i < b->n; i++) {
		if (answer < n && b->gfns[answer] == b->pfns[i])
			rc = take_type(b, i, b->asked[answer++], err);
		else
			b->types[i] = XF_PAGE_NOTAB;
	}
	return rc;
}

int batch_look(struct batch *b, uint64_t from, size_t n, uint64_t *map, size_t *found,
	       struct xf_error *err)
{
	double begun = clock_now();
	int rc;

	/* What was memory is to be told of as a hole. */
	for (size_t i = 0; i < n; i++) {
		b->pfns[i] = from + i;
		if (!xcbatch_bitmap_test(b->ram, from + i))
			xcbatch_bitmap_clear(map, from + i);
	}
	b->n = n;
	rc = ask_types(b, err);
	b->n = 0;
	spent_since(begun, &b->spent.types);
	*found = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		*found += (size_t)xf_page_type_has_data(b->types[i]);
		if (b->types[i] != XF_PAGE_XTAB)
			xcbatch_bitmap_set(map, b->pfns[i]);
	}
	return rc;
}

/* What each page is, and which frames are to be mapped. */
static int classify(struct batch *b, size_t *to_map, struct xf_error *err)
{
	int rc = ask_types(b, err);

	*to_map = 0;
	for (size_t i = 0; !rc && i < b->n; i++)
		if (xf_page_type_has_data(b->types[i]))
			b->gfns[(*to_map)++] = b->pfns[i];
	return rc;
}

/* Slots next to each other make one piece. */
static void add_run(struct batch *b, size_t *runs, void *page)
{
	struct iovec *last = *runs ? &b->runs[*runs - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == page)
		last->iov_len += GUEST_PAGE_SIZE;
	else
		b->runs[(*runs)++] = (struct iovec) { page, GUEST_PAGE_SIZE };
}

/* A page the guest gave back between the two calls is looked at again in the last copy. */
static int unmapped(struct batch *b, size_t i, int rc, struct xf_error *err)
{
	if (!b->running)
		return xf_error_set(err, rc, "Mapping pfn 0x%" PRIx64 " (type 0x%x) of domain %u failed"
				    " (%s), expected a page of memory there; see what Xen says in"
				    " \"xl dmesg\".", b->pfns[i], b->types[i], b->guest->domid,
				    strerror(-rc));
	xcbatch_bitmap_set(b->deferred, b->pfns[i]);
	xcbatch_bitmap_clear(b->ram, b->pfns[i]);
	b->types[i] = XF_PAGE_XTAB;
	b->gone = true;
	if (b->sent)
		xcbatch_content_forget(b->sent, b->pfns[i]);
	return 0;
}

/* ---- the page as it is sent --------------------------------------------- */

static int copies_reserve(struct batch *b, struct xf_error *err)
{
	if (b->copies)
		return 0;
	b->copies = aligned_alloc(GUEST_PAGE_SIZE, (size_t)GUEST_BATCH * GUEST_PAGE_SIZE);
	return b->copies ? 0 : xf_error_set(err, -ENOMEM, "No memory for copies of %u pages of domain %u; free some"
					    " memory in Dom0.", GUEST_BATCH, b->guest->domid);
}

/*
 * While the guest runs the page is left out, and nothing is said about it. Where contents are compared the next
 * comparison finds it, else it waits for the last copy.
 */
static int not_normalised(struct batch *b, size_t i, int rc, struct xf_error *err)
{
	if (rc != -EAGAIN || !b->running)
		return xf_error_set(err, rc, "The page table at pfn 0x%" PRIx64 " (type 0x%x) of domain %u can't be"
				    " put into frame numbers of the guest's own (%s), expected entries"
				    " that point to its memory; see what Xen says in \"xl dmesg\".",
				    b->pfns[i], b->types[i], b->guest->domid, strerror(-rc));
	if (!b->sent)
		xcbatch_bitmap_set(b->deferred, b->pfns[i]);
	return 0;
}

/*
 * What is noted must be what was sent, and nothing may come between: a guest
 * that wrote something else there and took it back later would be missed.
 */
static bool notes(const struct batch *b)
{
	return b->sent && b->running;
}

/*
 * What goes out for the page at this slot, which lies mapped at `page`: itself,
 * or a copy that nobody changes any more. NULL: nothing now, it was left for later.
 */
static int page_as_sent(struct batch *b, size_t i, size_t slot, char *page, char **sent, struct xf_error *err)
{
	const struct guest_ops *ops = b->guest->ops;
	bool table = ops->normalise && b->types[i] != XF_PAGE_NOTAB;
	char *copy;
	int rc;

	*sent = page;
	if (!table && !notes(b))
		return 0;
	rc = copies_reserve(b, err);
	if (rc)
		return rc;
	copy = b->copies + slot * GUEST_PAGE_SIZE;
	*sent = copy;
	if (!table) {
		xcbatch_page_copy(copy, page, 1);
		return 0;
	}
	rc = ops->normalise(b->guest, b->types[i], page, copy);
	if (!rc)
		return 0;
	*sent = NULL;
	return not_normalised(b, i, rc, err);
}

static int no_notes(const struct batch *b, int rc, struct xf_error *err)
{
	return xf_error_set(err, rc, "No memory to note what was sent of domain %u, expected 16 bytes a page;"
			    " free some memory in Dom0.", b->guest->domid);
}

static int note(struct batch *b, size_t i, const char *sent, struct xf_error *err)
{
	int rc = notes(b) ? xcbatch_content_note(b->sent, b->pfns[i], b->types[i], sent) : 0;

	return rc ? no_notes(b, rc, err) : 0;
}

/* No contents are needed for a page that never had any but zeroes. */
static bool goes_without(struct batch *b, size_t i, const char *page)
{
	if (!b->fresh || (!b->count_zeroes && !b->elide_zeroes) || b->types[i] != XF_PAGE_NOTAB ||
	    !xcbatch_page_is_zero(page))
		return false;
	b->zero_pages++;
	if (!b->elide_zeroes)
		return false;
	b->types[i] = XF_PAGE_XALLOC;
	b->elided++;
	return true;
}

/* What the receiver has then, whatever the guest has written there meanwhile. */
static int note_zeroes(struct batch *b, size_t i, struct xf_error *err)
{
	static const char zeroes[GUEST_PAGE_SIZE] __attribute__((aligned(16)));
	int rc = notes(b) ? xcbatch_content_note(b->sent, b->pfns[i], XF_PAGE_NOTAB, zeroes) : 0;

	return rc ? no_notes(b, rc, err) : 0;
}

/* ---- a record ----------------------------------------------------------- */

struct record {
	size_t slot, words, runs;
};

/* The i-th page was asked for at the next slot: it goes out from there, if it is there. said: it gets a word. */
static int take_page(struct batch *b, size_t i, char *base, struct record *r, bool *said, struct xf_error *err)
{
	size_t slot = r->slot++;
	char *page = base + slot * GUEST_PAGE_SIZE, *sent;
	int rc;

	if (b->errs[slot])
		return unmapped(b, i, b->errs[slot], err);
	if (goes_without(b, i, page))
		return note_zeroes(b, i, err);
	rc = page_as_sent(b, i, slot, page, &sent, err);
	*said = sent != NULL;
	if (!rc && sent)
		rc = note(b, i, sent, err);
	if (rc || !sent)
		return rc;
	add_run(b, &r->runs, sent);
	b->pages++;
	return 0;
}

static int compose(struct batch *b, char *base, struct record *r, struct xf_error *err)
{
	*r = (struct record) { 0 };
	for (size_t i = 0; i < b->n; i++) {
		bool said = true;
		int rc = xf_page_type_has_data(b->types[i]) ? take_page(b, i, base, r, &said, err) : 0;

		if (rc)
			return rc;
		if (said && !(b->types[i] == XF_PAGE_XTAB && b->fresh))
			b->words[r->words++] = xf_page_word(b->pfns[i], b->types[i]);
	}
	return 0;
}

int batch_flush(struct batch *b, struct xf_error *err)
{
	struct record record;
	size_t to_map;
	void *base = NULL;
	double at;
	int rc;

	if (!b->n)
		return 0;
	at = clock_now();
	rc = classify(b, &to_map, err);
	if (rc)
		return rc;
	at = spent_since(at, &b->spent.types);
	if (to_map) {
		rc = b->guest->ops->map(b->guest, b->gfns, to_map, b->errs, &base);
		if (rc)
			return failure(err, rc, b->guest, "Mapping pages");
	}
	at = spent_since(at, &b->spent.map);
	rc = compose(b, base, &record, err);
	if (rc)
		return rc;
	at = spent_since(at, &b->spent.zero);
	b->n = 0;
	if (!record.words)
		return 0;
	if (b->running)
		pace_begin(&b->pace, b->out->bytes_written);
	rc = xf_writer_pages(b->writer, b->words, (uint32_t)record.words, b->runs, record.runs);
	if (!rc && b->running)
		pace_wait(&b->pace, b->out->bytes_written);
	spent_since(at, &b->spent.io);
	return rc ? failure_from(err, xf_writer_error(b->writer)) : 0;
}

int batch_add(struct batch *b, uint64_t pfn, struct xf_error *err)
{
	bool full = b->n == BATCH_PAGES || (b->n + LARGE_PAGES > BATCH_PAGES && pfn % LARGE_PAGES == 0);
	int rc = full ? batch_flush(b, err) : 0;

	if (!rc)
		b->pfns[b->n++] = pfn;
	return rc;
}

void batch_release(struct batch *b)
{
	free(b->copies);
	b->copies = NULL;
}
