/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/reader.h"
#include "stream/names.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DROP_SIZE 16384

enum state { AT_HEADERS, AT_RECORD, IN_PAGES, ENDED };

struct xf_reader {
	struct xf_transport *t;
	enum xf_stream_kind kind;
	enum state state;
	struct xf_rules rules;
	struct xf_error error;
	uint64_t pfn_limit;
	struct xf_record rec;
	uint64_t left;		/* of the body, without padding */
	uint32_t padding;
	uint64_t *words;
	uint32_t words_room;
	uint32_t count;
	uint8_t drop[DROP_SIZE];
};

int xf_reader_open(struct xf_reader **out, struct xf_transport *t, enum xf_stream_kind kind)
{
	struct xf_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->t = t;
	r->kind = kind;
	r->pfn_limit = XF_PFN_LIMIT;
	*out = r;
	return 0;
}

void xf_reader_close(struct xf_reader *r)
{
	if (!r)
		return;
	free(r->words);
	free(r);
}

const struct xf_error *xf_reader_error(const struct xf_reader *r)
{
	return &r->error;
}

int xf_reader_set_pfn_limit(struct xf_reader *r, uint64_t limit)
{
	if (!limit || limit > XF_PFN_LIMIT)
		return -EINVAL;
	r->pfn_limit = limit;
	return 0;
}

static int misuse(struct xf_reader *r, const char *found, const char *expected)
{
	return xf_error_set(&r->error, -EINVAL, "The stream reader was asked for %s, expected %s;"
			    " this is a fault in the program, please report it.", found, expected);
}

/* what: "the image header", or NULL for the record at hand. */
static int fetch(struct xf_reader *r, const struct iovec *iov, size_t n, const char *what)
{
	uint64_t at = r->t->bytes_read, want = 0;
	char place[96];
	size_t got;
	int ret;

	ret = xf_transport_readv(r->t, iov, n, &got);
	if (!ret)
		return 0;
	for (size_t i = 0; i < n; i++)
		want += iov[i].iov_len;
	if (what)
		snprintf(place, sizeof(place), "%s", what);
	else
		snprintf(place, sizeof(place), "record %" PRIu64 " (%s)", r->rec.number,
			 xf_record_name(r->rec.type));
	if (ret == -ENODATA)
		return xf_error_set(&r->error, ret, "The stream ends in %s at byte %" PRIu64 ": found"
				    " %zu bytes, expected %" PRIu64 "; " XF_ADVICE_CUT ".", place, at,
				    got, want);
	return xf_error_set(&r->error, ret, "Reading %s at byte %" PRIu64 " failed (%s): found %zu"
			    " bytes, expected %" PRIu64 "; look at the disk or the connection and try"
			    " again.", place, at, strerror(-ret), got, want);
}

static int fetch_one(struct xf_reader *r, void *buf, size_t len, const char *what)
{
	struct iovec iov = { buf, len };

	return fetch(r, &iov, 1, what);
}

/* ---- headers ------------------------------------------------------------ */

static int refuse_header(struct xf_reader *r, const char *which, uint64_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int refuse_header(struct xf_reader *r, const char *which, uint64_t at, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return xf_error_set(&r->error, -EPROTO, "%s at byte %" PRIu64 ": %s; give a stream that"
			    " \"xl save\" or \"xl migrate\" of Xen 4.6 or later wrote.", which, at, what);
}

static int image_header(struct xf_reader *r, uint32_t *version)
{
	static const char which[] = "Image header";
	uint64_t at = r->t->bytes_read;
	struct xf_image_header h;
	int ret;

	ret = fetch_one(r, &h, sizeof(h), "the image header");
	if (ret)
		return ret;
	if (h.marker != XF_IMAGE_MARKER)
		return refuse_header(r, which, at, "found marker 0x%016" PRIx64 ", expected 0x%016"
				     PRIx64, be64toh(h.marker), XF_IMAGE_MARKER);
	if (be32toh(h.id) != XF_IMAGE_ID)
		return refuse_header(r, which, at, "found id 0x%08x, expected 0x%08x (XENF)",
				     be32toh(h.id), XF_IMAGE_ID);
	*version = be32toh(h.version);
	if (*version < XF_VERSION_MIN || *version > XF_VERSION_MAX)
		return refuse_header(r, which, at, "found version %u, expected 2 or 3", *version);
	if (be16toh(h.options) & XF_IMAGE_BIG_ENDIAN)
		return refuse_header(r, which, at, "found options 0x%04x (big-endian), expected a"
				     " little-endian stream", be16toh(h.options));
	return 0;
}

static int domain_header(struct xf_reader *r, struct xf_stream_info *info)
{
	static const char which[] = "Domain header";
	uint64_t at = r->t->bytes_read;
	struct xf_domain_header h;
	int ret;

	ret = fetch_one(r, &h, sizeof(h), "the domain header");
	if (ret)
		return ret;
	info->guest = le32toh(h.type);
	if (info->guest != XF_GUEST_X86_PV && info->guest != XF_GUEST_X86_HVM)
		return refuse_header(r, which, at, "found guest type %u, expected 1 (PV) or 2 (HVM)",
				     info->guest);
	if (le16toh(h.page_shift) != XF_PAGE_SHIFT)
		return refuse_header(r, which, at, "found a page shift of %u, expected %u",
				     le16toh(h.page_shift), XF_PAGE_SHIFT);
	info->xen_major = le32toh(h.xen_major);
	info->xen_minor = le32toh(h.xen_minor);
	return 0;
}

int xf_reader_headers(struct xf_reader *r, struct xf_stream_info *info)
{
	int ret;

	if (r->error.code)
		return r->error.code;
	if (r->state != AT_HEADERS)
		return misuse(r, "the headers twice", "once");
	ret = image_header(r, &info->version);
	if (!ret)
		ret = domain_header(r, info);
	if (ret)
		return ret;
	xf_rules_init(&r->rules, r->kind, info->version, info->guest);
	r->state = AT_RECORD;
	return 0;
}

/* ---- records ------------------------------------------------------------ */

static int drop_rest(struct xf_reader *r)
{
	uint64_t rest = r->left + r->padding;

	while (rest) {
		size_t len = rest < DROP_SIZE ? (size_t)rest : DROP_SIZE;
		int ret = fetch_one(r, r->drop, len, NULL);

		if (ret)
			return ret;
		rest -= len;
	}
	r->left = 0;
	r->padding = 0;
	return 0;
}

int xf_reader_next(struct xf_reader *r, struct xf_record *rec)
{
	struct xf_record_header h;
	uint64_t at;
	int ret;

	if (r->error.code)
		return r->error.code;
	if (r->state == AT_HEADERS || r->state == ENDED)
		return misuse(r, r->state == ENDED ? "a record after END" : "a record before the headers",
			      "headers, records, END");
	ret = drop_rest(r);
	if (ret)
		return ret;
	at = r->t->bytes_read;
	ret = fetch_one(r, &h, sizeof(h), "a record's header, with no END record yet,");
	if (ret)
		return ret;
	r->rec = (struct xf_record){
		.type = le32toh(h.type),
		.length = le32toh(h.length),
		.number = r->rules.record + 1,
		.offset = at,
	};
	ret = xf_rules_record(&r->rules, r->rec.type, r->rec.length, at, &r->error);
	if (ret < 0)
		return ret;
	r->rec.skip = ret == XF_RECORD_SKIP;
	r->left = r->rec.length;
	r->padding = xf_record_padding(r->rec.length);
	r->state = r->rec.type == XF_REC_END ? ENDED : AT_RECORD;
	*rec = r->rec;
	return 0;
}

int xf_reader_body(struct xf_reader *r, void *buf, size_t room)
{
	int ret;

	if (r->error.code)
		return r->error.code;
	if (r->rec.type == XF_REC_PAGE_DATA || r->left != r->rec.length || room < r->left)
		return misuse(r, "a record's body in the wrong way",
			      "one call for each record but PAGE_DATA, with room for all of it");
	ret = fetch_one(r, buf, r->left, NULL);
	if (ret)
		return ret;
	r->left = 0;
	if (r->rec.skip)
		return 0;
	return xf_rules_body(&r->rules, r->rec.type, buf, r->rec.length, &r->error);
}

/* ---- PAGE_DATA ---------------------------------------------------------- */

static int refuse_pages(struct xf_reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse_pages(struct xf_reader *r, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return xf_rules_refuse(&r->rules, XF_REC_PAGE_DATA, &r->error, "%s", what);
}

static int reserve_words(struct xf_reader *r, uint32_t count)
{
	uint64_t *words;

	if (count <= r->words_room)
		return 0;
	words = realloc(r->words, count * sizeof(*words));
	if (!words)
		return xf_error_set(&r->error, -ENOMEM, "No memory for a list of %u pages, expected it"
				    " to be there; free some memory in Dom0.", count);
	r->words = words;
	r->words_room = count;
	return 0;
}

static int read_words(struct xf_reader *r)
{
	struct xf_page_data d;
	uint64_t lists;
	int ret;

	ret = fetch_one(r, &d, sizeof(d), NULL);
	if (ret)
		return ret;
	r->left -= sizeof(d);
	r->count = le32toh(d.count);
	if (!r->count || r->count > XF_RECORD_PAGES_MAX)
		return refuse_pages(r, "found a count of %u pages, expected 1 to %u", r->count,
				    XF_RECORD_PAGES_MAX);
	lists = (uint64_t)r->count * sizeof(*r->words);
	if (lists > r->left)
		return refuse_pages(r, "found a count of %u pages in %u bytes, expected at least %"
				    PRIu64 " bytes for their list", r->count, r->rec.length,
				    lists + sizeof(d));
	ret = reserve_words(r, r->count);
	if (!ret)
		ret = fetch_one(r, r->words, (size_t)lists, NULL);
	if (ret)
		return ret;
	r->left -= lists;
	return 0;
}

int xf_reader_pages(struct xf_reader *r, struct xf_page_list *list)
{
	uint32_t with_data = 0;
	int ret;

	if (r->error.code)
		return r->error.code;
	if (r->state != AT_RECORD || r->rec.type != XF_REC_PAGE_DATA || r->left != r->rec.length)
		return misuse(r, "a list of pages", "a PAGE_DATA record, and once for each");
	ret = read_words(r);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < r->count; i++) {
		uint64_t word = r->words[i] = le64toh(r->words[i]);
		unsigned type = xf_word_type(word);

		if (!xf_page_type_known(type))
			return refuse_pages(r, "found page type 0x%x for pfn 0x%" PRIx64 " (entry %u),"
					    " expected 0x0 to 0x4 or 0x9 to 0xf", type,
					    xf_word_pfn(word), i);
		if (xf_word_pfn(word) >= r->pfn_limit)
			return refuse_pages(r, "found pfn 0x%" PRIx64 " (entry %u), expected one below"
					    " 0x%" PRIx64, xf_word_pfn(word), i, r->pfn_limit);
		with_data += (uint32_t)xf_page_type_has_data(type);
	}
	if (r->left != (uint64_t)with_data * XF_PAGE_SIZE)
		return refuse_pages(r, "found %" PRIu64 " bytes of contents, expected %" PRIu64
				    " for %u pages", r->left, (uint64_t)with_data * XF_PAGE_SIZE,
				    with_data);
	r->state = IN_PAGES;
	*list = (struct xf_page_list){ r->words, r->count, with_data };
	return 0;
}

int xf_reader_page_data(struct xf_reader *r, const struct iovec *iov, size_t n)
{
	uint64_t len = 0;
	int ret;

	if (r->error.code)
		return r->error.code;
	for (size_t i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (r->state != IN_PAGES || len % XF_PAGE_SIZE || len > r->left)
		return misuse(r, "contents of pages that aren't there",
			      "whole pages, no more than the list says, after the list");
	ret = fetch(r, iov, n, NULL);
	if (ret)
		return ret;
	r->left -= len;
	return 0;
}
