// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xcbatch.h>

#include "engine/restore_internal.h"

/*
 * Frames a guest may have above the memory it is allowed: the hole for devices
 * below 4 GiB, and what a balloon has plugged in above the rest.
 */
#define FRAMES_BELOW_4G (UINT64_C(1) << 20)
#define FRAMES_SPARE	(UINT64_C(1) << 18)

/* Pages compared at a time in a verify pass. */
#define VERIFY_PAGES 64

/* After so many differing pages only their number is told. */
#define VERIFY_TOLD 100

struct restore_pages {
	uint64_t limit;		/* pfns are below */
	uint64_t *populated;	/* bitmap */
	uint64_t count;		/* contents put in place */
	char *compare;		/* VERIFY_PAGES pages in a verify pass, else NULL */
	uint64_t want[GUEST_BATCH];
	int errs[GUEST_BATCH];
};

int restore_pages_open(struct restore *r)
{
	struct restore_pages *p = calloc(1, sizeof(*p));
	int rc;

	r->pages = p;
	if (p) {
		p->limit = FRAMES_BELOW_4G + 2 * r->info.max_pages + FRAMES_SPARE;
		if (p->limit > XF_PFN_LIMIT)
			p->limit = XF_PFN_LIMIT;
		p->populated = calloc(xcbatch_bitmap_words(p->limit), sizeof(*p->populated));
	}
	if (!p || !p->populated)
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
	free(r->pages->populated);
	free(r->pages);
}

uint64_t restore_pages_count(const struct restore *r)
{
	return r->pages ? r->pages->count : 0;
}

/* ---- memory behind the pages -------------------------------------------- */

static int no_room(struct restore *r, int rc, size_t wanted)
{
	struct restore_pages *p = r->pages;
	uint64_t has = xcbatch_bitmap_count(p->populated, p->limit) - wanted, host = 0;

	if (rc != -ENOMEM || r->guest->ops->host_free(r->guest, &host))
		return failure(r->err, rc, r->guest, "Getting memory");
	return xf_error_set(r->err, rc, "Getting memory for domain %u failed: it has %" PRIu64 " MiB and"
			    " may need up to %" PRIu64 " MiB, but Xen has %" PRIu64 " MiB free for guests;"
			    " free memory on this host.", r->guest->domid, has >> 8,
			    r->info.max_pages >> 8, host >> 8);
}

static int populate(struct restore *r, const uint64_t *words, size_t n)
{
	struct restore_pages *p = r->pages;
	size_t wanted = 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		uint64_t pfn = xf_word_pfn(words[i]);

		if (!xf_page_type_populates(xf_word_type(words[i])) ||
		    xcbatch_bitmap_test(p->populated, pfn))
			continue;
		xcbatch_bitmap_set(p->populated, pfn);
		p->want[wanted++] = pfn;
	}
	rc = wanted ? r->guest->ops->populate(r->guest, p->want, wanted) : 0;
	return rc ? no_room(r, rc, wanted) : 0;
}

/* ---- contents ----------------------------------------------------------- */

/* Maps those with contents next to each other, however scattered they lie. */
static int map_contents(struct restore *r, const uint64_t *words, size_t n, size_t *mapped,
			void **base)
{
	struct restore_pages *p = r->pages;
	int rc;

	*mapped = 0;
	for (size_t i = 0; i < n; i++)
		if (xf_page_type_has_data(xf_word_type(words[i])))
			p->want[(*mapped)++] = xf_word_pfn(words[i]);
	if (!*mapped)
		return 0;
	rc = r->guest->ops->map(r->guest, p->want, *mapped, p->errs, base);
	if (rc)
		return failure(r->err, rc, r->guest, "Mapping pages");
	for (size_t i = 0; i < *mapped; i++)
		if (p->errs[i])
			return xf_error_set(r->err, p->errs[i], "Mapping pfn 0x%" PRIx64 " of domain %u"
					    " failed (%s), expected the memory just given to it; see what"
					    " Xen says in \"xl dmesg\".", p->want[i], r->guest->domid,
					    strerror(-p->errs[i]));
	return 0;
}

static int read_contents(struct restore *r, void *to, size_t pages)
{
	struct iovec iov = { to, pages * GUEST_PAGE_SIZE };

	return xf_reader_page_data(r->reader, &iov, 1) ? restore_unreadable(r) : 0;
}

static void differs(struct restore *r, uint64_t pfn)
{
	if (r->result->mismatches++ < VERIFY_TOLD)
		report_error(r->job->report, "verify pfn 0x%" PRIx64 " failed: its contents differ from"
			     " what the sender has.", pfn);
}

static int compare_contents(struct restore *r, const char *base, size_t pages)
{
	struct restore_pages *p = r->pages;

	for (size_t at = 0; at < pages; at += VERIFY_PAGES) {
		size_t some = pages - at < VERIFY_PAGES ? pages - at : VERIFY_PAGES;
		int rc = read_contents(r, p->compare, some);

		if (rc)
			return rc;
		for (size_t i = 0; i < some; i++)
			if (memcmp(base + (at + i) * GUEST_PAGE_SIZE,
				   p->compare + i * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE))
				differs(r, p->want[at + i]);
	}
	return 0;
}

static int take(struct restore *r, const uint64_t *words, size_t n)
{
	struct restore_pages *p = r->pages;
	void *base = NULL;
	size_t mapped;
	int rc = populate(r, words, n);

	if (!rc)
		rc = map_contents(r, words, n, &mapped, &base);
	if (rc || !mapped)
		return rc;
	if (p->compare)
		return compare_contents(r, base, mapped);
	rc = read_contents(r, base, mapped);
	if (!rc)
		p->count += mapped;
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
	int rc;

	/* Version 2 has no record for it: memory is the first that isn't static. */
	if (!r->static_done) {
		rc = restore_static_data_end(r, rec);
		if (rc)
			return rc;
	}
	if (xf_reader_pages(r->reader, &list))
		return restore_unreadable(r);
	for (size_t at = 0; at < list.count; at += GUEST_BATCH) {
		size_t some = list.count - at < GUEST_BATCH ? list.count - at : GUEST_BATCH;

		rc = take(r, list.words + at, some);
		if (rc)
			return rc;
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
