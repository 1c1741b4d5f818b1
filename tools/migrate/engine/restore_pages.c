// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/restore_pages.h"
#include "engine/restore_pv.h"

/* Pages compared at a time in a verify pass. */
#define VERIFY_PAGES 64

/* After so many differing pages only their number is told. */
#define VERIFY_TOLD 100

uint64_t restore_pages_count(const struct restore *r)
{
	return r->pages ? r->pages->count : 0;
}

uint64_t restore_pages_cleared(const struct restore *r)
{
	return r->pages ? r->pages->cleared : 0;
}

/* ---- contents ----------------------------------------------------------- */

/* rc: what mapping the n pages of `want` came to. */
static int mapped(struct restore *r, size_t n, int rc)
{
	const struct restore_pages *p = r->pages;

	if (rc)
		return failure(r->err, rc, r->guest, "Mapping pages");
	for (size_t i = 0; i < n; i++)
		if (p->errs[i])
			return xf_error_set(r->err, p->errs[i], "Mapping pfn 0x%" PRIx64 " of domain %u"
					    " failed (%s), expected the memory just given to it; see what"
					    " Xen says in \"xl dmesg\".", p->want[i], r->guest->domid,
					    strerror(-p->errs[i]));
	return 0;
}

/* Maps the n pages of `want` next to each other, however scattered they lie. */
static int map_wanted(struct restore *r, size_t n, void **base)
{
	struct restore_pages *p = r->pages;

	return mapped(r, n, n ? r->guest->ops->map(r->guest, p->want, n, p->errs, base) : 0);
}

/* The same for looking at them only, which costs Xen less: no page becomes a writable one by it. */
static int map_to_look(struct restore *r, size_t n, void **base)
{
	struct restore_pages *p = r->pages;

	return mapped(r, n, r->guest->ops->map_lane(r->guest, 0, p->want, n, p->errs, base));
}

/* Pages that must be zero. Looking is cheaper than writing, and nearly all are. */
static int make_zero(struct restore *r)
{
	struct restore_pages *p = r->pages;
	double at = clock_now();
	size_t dirty = 0;
	void *base;
	int rc = map_to_look(r, p->zeroes, &base);

	at = spent_since(at, &r->spent.map);
	for (size_t i = 0; !rc && i < p->zeroes; i++)
		if (!xcbatch_page_is_zero((char *)base + i * GUEST_PAGE_SIZE))
			p->want[dirty++] = p->want[i];
	if (!rc)
		rc = map_wanted(r, dirty, &base);
	if (!rc && dirty)
		memset(base, 0, dirty * GUEST_PAGE_SIZE);
	p->cleared += dirty;
	spent_since(at, &r->spent.zero);
	return rc;
}

static int map_contents(struct restore *r, const uint64_t *words, size_t n, size_t *contents, void **base)
{
	*contents = 0;
	for (size_t i = 0; i < n; i++)
		if (xf_page_type_has_data(xf_word_type(words[i])))
			r->pages->want[(*contents)++] = xf_word_pfn(words[i]);
	return map_wanted(r, *contents, base);
}

static int read_contents(struct restore *r, void *to, size_t pages)
{
	struct iovec iov = { to, pages * GUEST_PAGE_SIZE };

	return xf_reader_page_data(r->reader, &iov, 1) ? restore_unreadable(r) : 0;
}

/* The guest is suspended at the sender's: what comes now is what it has. */
static void put_right(struct restore *r, uint64_t pfn, char *page, const char *sent)
{
	if (r->result->mismatches++ < VERIFY_TOLD)
		report_error(r->job->report, "verify pfn 0x%" PRIx64 " failed: its contents differed from"
			     " what the sender has, which was put there.", pfn);
	xcbatch_page_copy(page, sent, 1);
}

static int compare_contents(struct restore *r, char *base, size_t pages)
{
	struct restore_pages *p = r->pages;

	for (size_t at = 0; at < pages; at += VERIFY_PAGES) {
		size_t some = pages - at < VERIFY_PAGES ? pages - at : VERIFY_PAGES;
		int rc = read_contents(r, p->compare, some);

		if (rc)
			return rc;
		for (size_t i = 0; i < some; i++) {
			char *page = base + (at + i) * GUEST_PAGE_SIZE;
			const char *sent = p->compare + i * GUEST_PAGE_SIZE;

			if (memcmp(page, sent, GUEST_PAGE_SIZE))
				put_right(r, p->want[at + i], page, sent);
		}
	}
	return 0;
}

static int take(struct restore *r, const uint64_t *words, size_t n)
{
	struct restore_pages *p = r->pages;
	void *base = NULL;
	size_t contents = 0;
	double at = clock_now();
	int rc = restore_populate(r, words, n);

	spent_since(at, &r->spent.populate);
	if (!rc && p->zeroes)
		rc = make_zero(r);
	at = clock_now();
	if (!rc)
		rc = map_contents(r, words, n, &contents, &base);
	at = spent_since(at, &r->spent.map);
	if (rc || !contents)
		return rc;
	if (p->compare)
		return compare_contents(r, base, contents);
	rc = read_contents(r, base, contents);
	spent_since(at, &r->spent.io);
	if (!rc)
		p->count += contents;
	return rc;
}

static void tell_progress(struct restore *r)
{
	if (r->job->size)
		report_progress(r->job->report, "Restoring (KiB)", r->job->in->bytes_read >> 10,
				r->job->size >> 10);
}

int restore_page_data(struct restore *r, const struct xf_record *rec)
{
	struct xf_page_list list;
	int rc = restore_static_data_over(r, rec);

	if (rc)
		return rc;
	if (xf_reader_pages(r->reader, &list))
		return restore_unreadable(r);
	for (size_t at = 0; at < list.count; at += GUEST_BATCH) {
		size_t some = list.count - at < GUEST_BATCH ? list.count - at : GUEST_BATCH;

		rc = take(r, list.words + at, some);
		if (rc)
			return rc;
		if (r->pv)
			restore_pv_note(r, list.words + at, some);
	}
	tell_progress(r);
	return 0;
}

int restore_verify(struct restore *r, const struct xf_record *rec)
{
	(void)rec;
	r->pages->compare = malloc(VERIFY_PAGES * (size_t)GUEST_PAGE_SIZE);
	if (!r->pages->compare)
		return xf_error_set(r->err, -ENOMEM, "No memory for %d pages to compare with; free some"
				    " memory in Dom0.", VERIFY_PAGES);
	r->compared = true;
	report_info(r->job->report, "Comparing all of memory with the sender's");
	return 0;
}

int restore_clear_page(struct restore *r, uint64_t gfn, const char *what, struct xf_error *err)
{
	void *base;
	int failed = 0;
	int rc = r->guest->ops->map(r->guest, &gfn, 1, &failed, &base);

	if (!rc)
		rc = failed;
	if (rc)
		return xf_error_set(err, rc, "Clearing the %s page of domain %u at pfn 0x%" PRIx64
				    " failed (%s), expected the stream to have put memory there; save or"
				    " send the guest again.", what, r->guest->domid, gfn, strerror(-rc));
	memset(base, 0, GUEST_PAGE_SIZE);
	return 0;
}
