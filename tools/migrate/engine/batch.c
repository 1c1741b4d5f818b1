// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/failure.h"

/* Asks for the types and gathers the frames to map. */
static int classify(struct batch *b, size_t *to_map, struct xf_error *err)
{
	int rc = b->guest->ops->types(b->guest, b->pfns, b->n, b->types);

	*to_map = 0;
	if (rc)
		return failure(err, rc, b->guest, "Asking for the types of pages");
	for (size_t i = 0; i < b->n; i++) {
		if (!xf_page_type_known(b->types[i]))
			return xf_error_set(err, -EPROTO, "Xen gave type 0x%x for pfn 0x%" PRIx64
					    " of domain %u, expected one the stream has a word for;"
					    " use a xenferry made for this Xen.", b->types[i],
					    b->pfns[i], b->guest->domid);
		if (xf_page_type_has_data(b->types[i]))
			b->gfns[(*to_map)++] = b->pfns[i];
	}
	return 0;
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
	b->types[i] = XF_PAGE_XTAB;
	return 0;
}

/* The i-th page was asked for at this slot: it goes out from there, if it is there. */
static int take_page(struct batch *b, size_t i, char *base, size_t slot, size_t *runs,
		     struct xf_error *err)
{
	char *page = base + slot * GUEST_PAGE_SIZE;

	if (b->errs[slot])
		return unmapped(b, i, b->errs[slot], err);
	add_run(b, runs, page);
	b->pages++;
	if (b->count_zeroes)
		b->zero_pages += (uint64_t)xcbatch_page_is_zero(page);
	return 0;
}

static int compose(struct batch *b, char *base, size_t *words, size_t *runs, struct xf_error *err)
{
	size_t slot = 0;

	*words = *runs = 0;
	for (size_t i = 0; i < b->n; i++) {
		if (xf_page_type_has_data(b->types[i])) {
			int rc = take_page(b, i, base, slot++, runs, err);

			if (rc)
				return rc;
		}
		if (b->types[i] == XF_PAGE_XTAB && b->fresh)
			continue;
		b->words[(*words)++] = xf_page_word(b->pfns[i], b->types[i]);
	}
	return 0;
}

int batch_flush(struct batch *b, struct xf_error *err)
{
	size_t to_map, words, runs;
	void *base = NULL;
	int rc;

	if (!b->n)
		return 0;
	rc = classify(b, &to_map, err);
	if (rc)
		return rc;
	if (to_map) {
		rc = b->guest->ops->map(b->guest, b->gfns, to_map, b->errs, &base);
		if (rc)
			return failure(err, rc, b->guest, "Mapping pages");
	}
	rc = compose(b, base, &words, &runs, err);
	if (rc)
		return rc;
	b->n = 0;
	if (!words)
		return 0;
	rc = xf_writer_pages(b->writer, b->words, (uint32_t)words, b->runs, runs);
	return rc ? failure_from(err, xf_writer_error(b->writer)) : 0;
}

int batch_add(struct batch *b, uint64_t pfn, struct xf_error *err)
{
	int rc = b->n == GUEST_BATCH ? batch_flush(b, err) : 0;

	if (!rc)
		b->pfns[b->n++] = pfn;
	return rc;
}
