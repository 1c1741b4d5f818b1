/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>

#include "xcbatch.h"

#define ENTRIES (XCBATCH_PAGE_SIZE / sizeof(uint64_t))
/* An entry with a bit over this is a hole or somebody else's frame, as the guest notes it. */
#define FRAME_MASK ((UINT64_C(1) << 40) - 1)
/* What the guest says of the list's length is believed up to 1 TiB of memory. */
#define LIST_MAX (UINT64_C(1) << 28)

struct reader {
	xenforeignmemory_handle *fmem;
	uint32_t domid;
	uint64_t page[ENTRIES];	/* the last one read */
};

/* A copy: the guest may write meanwhile. */
static int read_page(struct reader *r, uint64_t frame)
{
	xen_pfn_t mfn = frame;
	int err = 0;
	void *at = xenforeignmemory_map(r->fmem, r->domid, PROT_READ, 1, &mfn, &err);

	if (!at)
		return -errno;
	if (err == 0)
		memcpy(r->page, at, sizeof(r->page));
	xenforeignmemory_unmap(r->fmem, at, 1);
	return err;
}

static int read_table(void *data, uint64_t frame, const uint64_t **entries)
{
	struct reader *r = data;

	*entries = r->page;
	return read_page(r, frame);
}

/* Takes the frames of the page of the list that was read. */
static void take(const struct reader *r, uint64_t entries, uint64_t *frames, size_t room, size_t *count)
{
	for (uint64_t i = 0; i < entries && i < ENTRIES && *count < room; i++)
		if (r->page[i] <= FRAME_MASK)
			frames[(*count)++] = r->page[i];
}

static int read_list(struct reader *r, struct xcbatch_space *space, uint64_t va, uint64_t entries,
		     uint64_t *frames, size_t room, size_t *count)
{
	int rc = 0;

	for (uint64_t at = 0; rc == 0 && at < entries && *count < room; at += ENTRIES) {
		uint64_t frame;

		rc = xcbatch_space_translate(space, va + at * sizeof(uint64_t), 1, &frame, NULL);
		if (rc == 0)
			rc = read_page(r, frame);
		if (rc == 0)
			take(r, entries - at, frames, room, count);
	}
	return rc;
}

int bench_pv_frames(xenforeignmemory_handle *fmem, uint32_t domid, uint64_t shared_info,
		    uint64_t *frames, size_t room, size_t *count)
{
	struct reader r = { .fmem = fmem, .domid = domid };
	struct xcbatch_space_source source = { .table = read_table, .data = &r };
	struct xcbatch_space *space;
	shared_info_t info;
	uint64_t entries;
	int rc = read_page(&r, shared_info);

	*count = 0;
	if (rc < 0)
		return rc;
	memcpy(&info, r.page, sizeof(info));
	if (info.arch.p2m_cr3 == 0)
		return -ENODATA;
	rc = xcbatch_space_open(&source, info.arch.p2m_cr3 >> XCBATCH_PAGE_SHIFT, &space);
	if (rc < 0)
		return rc;
	entries = info.arch.max_pfn < LIST_MAX ? info.arch.max_pfn : LIST_MAX;
	rc = read_list(&r, space, info.arch.p2m_vaddr, entries, frames, room, count);
	xcbatch_space_close(space);
	return rc;
}
