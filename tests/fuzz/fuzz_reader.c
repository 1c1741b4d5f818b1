/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stream reader on arbitrary bytes, driven as a restore would drive it.
 * The first byte says how: bit 0 a checkpointed stream, bit 1 pages are read
 * one by one, bit 2 they are left unread, bit 3 a guest's own pfn limit, bits
 * 4 to 7 how many bytes the transport gives at a time.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stream/limits.h"
#include "stream/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define GUEST_PAGES 4096u

static void check(int ok)
{
	if (!ok)
		abort();
}

static int read_pages(struct xf_reader *r, uint8_t how)
{
	static uint8_t page[XF_PAGE_SIZE];
	struct iovec iov = { page, sizeof(page) };
	struct xf_page_list list;
	uint32_t with_data = 0;
	int ret = xf_reader_pages(r, &list);

	if (ret || (how & 4))
		return ret;
	check(list.count && list.count <= XF_RECORD_PAGES_MAX);
	for (uint32_t i = 0; i < list.count; i++) {
		check(xf_page_type_known(xf_word_type(list.words[i])));
		check(xf_word_pfn(list.words[i]) < (how & 8 ? GUEST_PAGES : XF_PFN_LIMIT));
		with_data += (uint32_t)xf_page_type_has_data(xf_word_type(list.words[i]));
	}
	check(with_data == list.with_data);
	for (uint32_t i = 0; !ret && i < with_data; i++)
		ret = xf_reader_page_data(r, &iov, 1);
	return ret;
}

static int read_record(struct xf_reader *r, const struct xf_record *rec, uint8_t how)
{
	uint8_t *body;
	int ret;

	if (rec->type == XF_REC_PAGE_DATA)
		return read_pages(r, how);
	if (rec->skip)
		return 0;
	check(rec->length <= XF_BODY_MAX);
	body = malloc(rec->length + 1);
	if (!body)
		return -ENOMEM;
	ret = xf_reader_body(r, body, rec->length);
	free(body);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xf_stream_info info;
	struct xf_transport_mem t;
	struct xf_record rec = { 0 };
	struct xf_reader *r;
	uint8_t how;
	int ret;

	if (!size)
		return 0;
	how = data[0];
	if (xf_transport_mem_init(&t, data + 1, size - 1))
		return 0;
	t.step = how >> 4 ? (size_t)1 << (how >> 4) : 0;
	check(!xf_reader_open(&r, &t.base, how & 1 ? XF_STREAM_CHECKPOINTED : XF_STREAM_PLAIN));
	if (how & 8)
		check(!xf_reader_set_pfn_limit(r, GUEST_PAGES));
	ret = xf_reader_headers(r, &info);
	while (!ret && !(ret = xf_reader_next(r, &rec))) {
		ret = read_record(r, &rec, how);
		if (rec.type == XF_REC_END)
			break;
	}
	/* Nothing but a refusal or the end of the bytes, always with a sentence. */
	check(!ret || ret == -EPROTO || ret == -ENODATA);
	check(xf_reader_error(r)->code == ret && !ret == !xf_reader_error(r)->text[0]);
	xf_reader_close(r);
	xf_transport_mem_free(&t);
	return 0;
}
