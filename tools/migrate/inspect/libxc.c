/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The libxc stream: what the engine reads, with the engine's own reader. */
#include "inspect/internal.h"
#include "stream/names.h"
#include "stream/reader.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_PAGES (XF_INSPECT_BUFFER / XF_PAGE_SIZE)

struct walk {
	struct inspection *in;
	struct xf_reader *r;
	uint8_t *body;		/* grows to the largest body, XF_BODY_MAX at most */
	uint32_t room;
	int verifying;
};

static int headers(struct walk *w)
{
	struct xf_inspect_summary *s = w->in->sum;
	struct xf_inspect_item item = { .layer = "libxc", .offset = w->in->t->bytes_read };
	struct xf_stream_info info;
	int ret;

	ret = xf_reader_headers(w->r, &info);
	if (ret)
		return ret;
	s->version = info.version;
	s->guest = info.guest;
	s->xen_major = info.xen_major;
	s->xen_minor = info.xen_minor;
	item.name = "Image header";
	item.length = sizeof(struct xf_image_header);
	snprintf(item.detail, sizeof(item.detail), "version %u", info.version);
	xf_inspect_tell(w->in, &item);
	item.name = "Domain header";
	item.offset += item.length;
	item.length = sizeof(struct xf_domain_header);
	if (info.xen_major)
		snprintf(item.detail, sizeof(item.detail), "%s guest, saved under Xen %u.%u",
			 xf_guest_name(info.guest), info.xen_major, info.xen_minor);
	else
		snprintf(item.detail, sizeof(item.detail), "%s guest, converted from a legacy stream",
			 xf_guest_name(info.guest));
	xf_inspect_tell(w->in, &item);
	return 0;
}

/* memcmp of the page with itself, one byte on: all bytes equal the first. */
static int is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, XF_PAGE_SIZE - 1);
}

static int contents(struct walk *w, uint32_t pages, uint32_t *zero)
{
	uint8_t *buf = w->in->buffer;

	while (pages) {
		uint32_t n = pages < BUFFER_PAGES ? pages : BUFFER_PAGES;
		struct iovec iov = { buf, (size_t)n * XF_PAGE_SIZE };
		int ret = xf_reader_page_data(w->r, &iov, 1);

		if (ret)
			return ret;
		for (uint32_t i = 0; i < n; i++)
			*zero += (uint32_t)is_zero(buf + (size_t)i * XF_PAGE_SIZE);
		if (w->in->sink->progress)
			w->in->sink->progress(w->in->sink->ctx, w->in->t->bytes_read);
		pages -= n;
	}
	return 0;
}

static int pages(struct walk *w, struct xf_inspect_item *item)
{
	struct xf_inspect_summary *s = w->in->sum;
	struct xf_page_list list;
	int ret;

	ret = xf_reader_pages(w->r, &list);
	if (ret)
		return ret;
	item->pages = list.count;
	item->with_data = list.with_data;
	for (uint32_t i = 0; i < list.count; i++) {
		uint64_t pfn = xf_word_pfn(list.words[i]);

		if (!w->verifying)
			s->types[xf_word_type(list.words[i])]++;
		if (pfn > s->max_pfn)
			s->max_pfn = pfn;
	}
	ret = contents(w, list.with_data, &item->zero);
	if (ret)
		return ret;
	s->page_records++;
	if (w->verifying) {
		s->verify_pages += list.count;
	} else {
		s->pages += list.count;
		s->with_data += list.with_data;
		s->zero += item->zero;
	}
	snprintf(item->detail, sizeof(item->detail), "%u pages, %u with contents, %u of them zero%s",
		 list.count, list.with_data, item->zero, w->verifying ? " (verify pass)" : "");
	return 0;
}

static int reserve(struct walk *w, uint32_t length)
{
	uint8_t *body;

	if (length <= w->room)
		return 0;
	body = realloc(w->body, length);
	if (!body)
		return xf_error_set(w->in->e, -ENOMEM, "No memory for a record of %u bytes, expected it"
				    " to be there; free some and try again.", length);
	w->body = body;
	w->room = length;
	return 0;
}

static void describe(const uint8_t *body, struct xf_inspect_item *item)
{
	char *to = item->detail;
	size_t n = sizeof(item->detail);
	uint32_t word[2];

	switch (item->type) {
	case XF_REC_X86_TSC_INFO: {
		struct xf_tsc_info t;

		memcpy(&t, body, sizeof(t));
		snprintf(to, n, "mode %u, %u kHz, %" PRIu64 " ns, incarnation %u", le32toh(t.mode),
			 le32toh(t.khz), le64toh(t.nsec), le32toh(t.incarnation));
		break;
	}
	case XF_REC_HVM_PARAMS:
		memcpy(word, body, sizeof(word));
		snprintf(to, n, "%u parameters", le32toh(word[0]));
		break;
	case XF_REC_X86_PV_P2M_FRAMES:
		memcpy(word, body, sizeof(word));
		snprintf(to, n, "pfns 0x%x to 0x%x", le32toh(word[0]), le32toh(word[1]));
		break;
	case XF_REC_X86_PV_INFO:
		snprintf(to, n, "%u-bit guest, %u levels of page tables", 8u * body[0], body[1]);
		break;
	case XF_REC_X86_PV_VCPU_BASIC:
	case XF_REC_X86_PV_VCPU_EXTENDED:
	case XF_REC_X86_PV_VCPU_XSAVE:
	case XF_REC_X86_PV_VCPU_MSRS:
		memcpy(word, body, sizeof(word));
		snprintf(to, n, "vcpu %u", le32toh(word[0]));
		break;
	case XF_REC_X86_CPUID_POLICY:
		snprintf(to, n, "%u leaves", item->length / XF_CPUID_LEAF_SIZE);
		break;
	case XF_REC_X86_MSR_POLICY:
		snprintf(to, n, "%u MSRs", item->length / XF_MSR_ENTRY_SIZE);
		break;
	default:
		break;
	}
}

static int other(struct walk *w, struct xf_inspect_item *item)
{
	int ret;

	ret = reserve(w, item->length);
	if (!ret)
		ret = xf_reader_body(w->r, w->body, item->length);
	if (!ret)
		describe(w->body, item);
	return ret;
}

static int walk(struct walk *w)
{
	struct xf_inspect_item item;
	struct xf_record rec;
	int ret;

	ret = headers(w);
	while (!ret) {
		ret = xf_reader_next(w->r, &rec);
		if (ret)
			break;
		item = (struct xf_inspect_item){
			.layer = "libxc", .name = xf_record_name(rec.type), .number = rec.number,
			.type = rec.type, .length = rec.length, .offset = rec.offset,
			.skipped = rec.skip,
		};
		if (rec.type == XF_REC_PAGE_DATA)
			ret = pages(w, &item);
		else if (!rec.skip)
			ret = other(w, &item);
		if (ret)
			break;
		w->in->sum->records++;
		w->verifying |= rec.type == XF_REC_VERIFY;
		xf_inspect_tell(w->in, &item);
		if (rec.type == XF_REC_END)
			break;
	}
	return ret;
}

int xf_inspect_libxc(struct inspection *in)
{
	struct walk w = { .in = in };
	int ret;

	ret = xf_reader_open(&w.r, in->t, XF_STREAM_PLAIN);
	if (ret)
		return xf_error_set(in->e, ret, "No memory for a stream reader, expected it to be there;"
				    " free some and try again.");
	ret = walk(&w);
	if (ret)	/* the reader's sentence; a no-op if ours came first */
		xf_error_set(in->e, ret, "%s", xf_reader_error(w.r)->text);
	xf_reader_close(w.r);
	free(w.body);
	return ret;
}
