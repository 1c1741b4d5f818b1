/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/writer.h"
#include "stream/limits.h"
#include "stream/names.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct xf_writer {
	struct xf_transport *t;
	uint32_t version;
	enum xf_stream_kind kind;
	int started;		/* headers are out */
	struct xf_rules rules;
	struct xf_error error;
	struct iovec *iov;	/* grows to the longest record so far */
	size_t room;
	uint8_t *gather;	/* records that wait to go out with others; NULL: none do */
	size_t gather_room, gathered;
};

static const uint8_t zeroes[XF_RECORD_ALIGN];

int xf_writer_open(struct xf_writer **out, struct xf_transport *t, uint32_t version,
		   enum xf_stream_kind kind)
{
	struct xf_writer *w;

	if (version < XF_VERSION_MIN || version > XF_VERSION_MAX)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->t = t;
	w->version = version;
	w->kind = kind;
	*out = w;
	return 0;
}

void xf_writer_close(struct xf_writer *w)
{
	if (!w)
		return;
	free(w->gather);
	free(w->iov);
	free(w);
}

const struct xf_error *xf_writer_error(const struct xf_writer *w)
{
	return &w->error;
}

uint64_t xf_writer_position(const struct xf_writer *w)
{
	return w->t->bytes_written + w->gathered;
}

static size_t size_of(const struct iovec *iov, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += iov[i].iov_len;
	return size;
}

/* iov[0] is free, for what waits. */
static int put(struct xf_writer *w, struct iovec *iov, size_t n, const char *what)
{
	size_t waited = w->gathered;
	int ret;

	if (n > 1 && size_of(iov + 1, n - 1) <= w->gather_room - waited) {
		for (size_t i = 1; i < n; i++) {
			if (!iov[i].iov_len)
				continue;
			memcpy(w->gather + w->gathered, iov[i].iov_base, iov[i].iov_len);
			w->gathered += iov[i].iov_len;
		}
		return 0;
	}
	w->gathered = 0;
	iov[0] = (struct iovec){ w->gather, waited };
	ret = xf_transport_writev(w->t, iov, n);
	if (!ret)
		return 0;
	return xf_error_set(&w->error, ret, "Writing %s at byte %" PRIu64 " failed (%s): expected"
			    " the receiver or the disk to take it; look at the receiving side's"
			    " messages or at the free space, and try again.", what,
			    w->t->bytes_written, strerror(-ret));
}

int xf_writer_gather(struct xf_writer *w, size_t room)
{
	uint8_t *gather;

	if (w->gather || !room)
		return -EINVAL;
	gather = malloc(room);
	if (!gather)
		return -ENOMEM;
	w->gather = gather;
	w->gather_room = room;
	return 0;
}

static int flush(struct xf_writer *w, const char *what)
{
	struct iovec waits;

	if (w->error.code)
		return w->error.code;
	return w->gathered ? put(w, &waits, 1, what) : 0;
}

int xf_writer_flush(struct xf_writer *w)
{
	return flush(w, "the records so far");
}

int xf_writer_headers(struct xf_writer *w, uint32_t guest, uint32_t xen_major, uint32_t xen_minor)
{
	struct xf_image_header image = {
		.marker = XF_IMAGE_MARKER,
		.id = htobe32(XF_IMAGE_ID),
		.version = htobe32(w->version),
	};
	struct xf_domain_header domain = {
		.type = htole32(guest),
		.page_shift = htole16(XF_PAGE_SHIFT),
		.xen_major = htole32(xen_major),
		.xen_minor = htole32(xen_minor),
	};
	struct iovec iov[] = { { NULL, 0 }, { &image, sizeof(image) }, { &domain, sizeof(domain) } };
	int ret;

	if (w->error.code)
		return w->error.code;
	if (w->started || (guest != XF_GUEST_X86_PV && guest != XF_GUEST_X86_HVM))
		return xf_error_set(&w->error, -EINVAL, "Headers asked for %s guest type %u,"
				    " expected once and type 1 (PV) or 2 (HVM); this is a fault in"
				    " the program, please report it.",
				    w->started ? "twice, with" : "with", guest);
	ret = put(w, iov, 3, "the headers");
	if (ret)
		return ret;
	w->started = 1;
	xf_rules_init(&w->rules, w->kind, w->version, guest);
	return 0;
}

/* The array holds: what waits, header, head pieces, the caller's n, padding. */
static int reserve(struct xf_writer *w, size_t n)
{
	struct iovec *iov;

	if (n <= w->room)
		return 0;
	iov = realloc(w->iov, n * sizeof(*iov));
	if (!iov)
		return xf_error_set(&w->error, -ENOMEM, "No memory for a list of %zu pieces of a"
				    " record, expected it to be there; free some memory in Dom0.", n);
	w->iov = iov;
	w->room = n;
	return 0;
}

/* head[0 .. heads) goes before the caller's pieces, which must sum up to `expect` if that is >= 0. */
static int record(struct xf_writer *w, uint32_t type, const struct iovec *head, size_t heads,
		  const struct iovec *iov, size_t n, int64_t expect)
{
	struct xf_record_header h = { .type = htole32(type) };
	uint64_t length = 0, body = 0;
	size_t used = 1;
	int ret;

	if (w->error.code)
		return w->error.code;
	if (!w->started)
		return xf_error_set(&w->error, -EINVAL, "Record %s was to be written before the"
				    " headers, expected them first; this is a fault in the program,"
				    " please report it.", xf_record_name(type));
	ret = reserve(w, heads + n + 3);
	if (ret)
		return ret;
	w->iov[used++] = (struct iovec){ &h, sizeof(h) };
	for (size_t i = 0; i < heads; i++) {
		w->iov[used++] = head[i];
		length += head[i].iov_len;
	}
	for (size_t i = 0; i < n; i++) {
		w->iov[used++] = iov[i];
		body += iov[i].iov_len;
	}
	length += body;
	if ((expect >= 0 && body != (uint64_t)expect) || length > XF_RECORD_LENGTH_MAX)
		return xf_error_set(&w->error, -EINVAL, "Record %s was to be written with %" PRIu64
				    " bytes, expected %" PRId64 " (-1: any) and at most %u in all; this"
				    " is a fault in the program, please report it.",
				    xf_record_name(type), body, expect, XF_RECORD_LENGTH_MAX);
	ret = xf_rules_record(&w->rules, type, (uint32_t)length, xf_writer_position(w), &w->error);
	if (ret < 0)
		return w->error.code = -EINVAL;
	h.length = htole32((uint32_t)length);
	w->iov[used++] = (struct iovec){ (void *)(uintptr_t)zeroes,
					 xf_record_padding((uint32_t)length) };
	ret = put(w, w->iov, used, xf_record_name(type));
	return ret || type != XF_REC_END ? ret : flush(w, xf_record_name(type));
}

int xf_writer_record(struct xf_writer *w, uint32_t type, const struct iovec *iov, size_t n)
{
	return record(w, type, NULL, 0, iov, n, -1);
}

int xf_writer_blob(struct xf_writer *w, uint32_t type, const void *body, size_t length)
{
	struct iovec iov = { (void *)(uintptr_t)body, length };

	return record(w, type, NULL, 0, &iov, 1, -1);
}

int xf_writer_pages(struct xf_writer *w, const uint64_t *words, uint32_t count,
		    const struct iovec *pages, size_t n)
{
	struct xf_page_data d = { .count = htole32(count) };
	struct iovec head[] = {
		{ &d, sizeof(d) },
		{ (void *)(uintptr_t)words, (size_t)count * sizeof(*words) },
	};
	int64_t data = 0;

	if (w->error.code)
		return w->error.code;
	if (!count || count > XF_RECORD_PAGES_MAX)
		return xf_error_set(&w->error, -EINVAL, "PAGE_DATA was to be written with %u pages,"
				    " expected 1 to %u; this is a fault in the program, please report"
				    " it.", count, XF_RECORD_PAGES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		unsigned type = xf_word_type(words[i]);

		if (!xf_page_type_known(type))
			return xf_error_set(&w->error, -EINVAL, "PAGE_DATA was to be written with"
					    " page type 0x%x for pfn 0x%" PRIx64 ", expected one of"
					    " those known; this is a fault in the program, please"
					    " report it.", type, xf_word_pfn(words[i]));
		if (xf_page_type_has_data(type))
			data += XF_PAGE_SIZE;
	}
	return record(w, XF_REC_PAGE_DATA, head, 2, pages, n, data);
}
