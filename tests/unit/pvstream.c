/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pvstream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *copy(const void *from, size_t n)
{
	uint8_t *to = malloc(n + 1);

	assert_non_null(to);
	memcpy(to, from, n);
	return to;
}

void pvstream_take(struct pvstream *p, const struct xf_transport_mem *t)
{
	size_t at = sizeof(p->headers);

	p->n = 0;
	memcpy(p->headers, t->data, at);
	while (at < t->size) {
		struct pvrecord *r = &p->record[p->n++];
		struct xf_record_header h;

		assert_true(p->n < PVSTREAM_RECORDS - 1);
		memcpy(&h, t->data + at, sizeof(h));
		at += sizeof(h);
		*r = (struct pvrecord) { h.type, h.length, copy(t->data + at, h.length), h.length };
		at += h.length + xf_record_padding(h.length);
	}
}

void pvstream_free(struct pvstream *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->record[i].body);
	p->n = 0;
}

void pvstream_copy(struct pvstream *to, const struct pvstream *from)
{
	*to = *from;
	for (size_t i = 0; i < to->n; i++)
		to->record[i].body = copy(from->record[i].body, from->record[i].size);
}

static void append(struct xf_transport_mem *t, const void *data, size_t n)
{
	assert_int_equal(xf_transport_write(&t->base, data, n), 0);
}

void pvstream_put(const struct pvstream *p, struct xf_transport_mem *t)
{
	static const uint8_t zeroes[XF_RECORD_ALIGN];

	assert_int_equal(xf_transport_mem_init(t, NULL, 0), 0);
	append(t, p->headers, sizeof(p->headers));
	for (size_t i = 0; i < p->n; i++) {
		const struct pvrecord *r = &p->record[i];
		struct xf_record_header h = { r->type, r->length };

		append(t, &h, sizeof(h));
		if (r->size)
			append(t, r->body, r->size);
		if (r->size % XF_RECORD_ALIGN)
			append(t, zeroes, XF_RECORD_ALIGN - r->size % XF_RECORD_ALIGN);
	}
}

struct pvrecord *pvstream_find(struct pvstream *p, uint32_t type, unsigned nth)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->record[i].type == type && !nth--)
			return &p->record[i];
	fail_msg("the stream has no record of type 0x%x", type);
	return NULL;
}

void pvstream_drop(struct pvstream *p, struct pvrecord *r)
{
	free(r->body);
	memmove(r, r + 1, (size_t)(p->record + p->n - r - 1) * sizeof(*r));
	p->n--;
}

struct pvrecord *pvstream_repeat(struct pvstream *p, struct pvrecord *r)
{
	assert_true(p->n < PVSTREAM_RECORDS);
	memmove(r + 1, r, (size_t)(p->record + p->n - r) * sizeof(*r));
	p->n++;
	r[1].body = copy(r->body, r->size);
	return r + 1;
}

void pvrecord_resize(struct pvrecord *r, size_t size)
{
	r->body = realloc(r->body, size + 1);
	assert_non_null(r->body);
	if (size > r->size)
		memset(r->body + r->size, 0, size - r->size);
	r->size = size;
	r->length = (uint32_t)size;
}

static uint64_t *find_page(struct pvstream *p, uint64_t pfn, bool contents)
{
	for (size_t i = p->n; i-- > 0;) {
		struct pvrecord *r = &p->record[i];
		uint64_t *words = (uint64_t *)(r->body + sizeof(struct xf_page_data));
		size_t data, count;

		if (r->type != XF_REC_PAGE_DATA)
			continue;
		count = ((struct xf_page_data *)r->body)->count;
		data = sizeof(struct xf_page_data) + count * sizeof(*words);
		for (size_t j = 0; j < count; j++) {
			if (!xf_page_type_has_data(xf_word_type(words[j])))
				continue;
			if (xf_word_pfn(words[j]) == pfn)
				return contents ? (uint64_t *)(r->body + data) : &words[j];
			data += XF_PAGE_SIZE;
		}
	}
	fail_msg("the stream has no page 0x%" PRIx64, pfn);
	return NULL;
}

uint64_t *pvstream_word(struct pvstream *p, uint64_t pfn)
{
	return find_page(p, pfn, false);
}

uint64_t *pvstream_page(struct pvstream *p, uint64_t pfn)
{
	return find_page(p, pfn, true);
}

unsigned pvstream_count(const struct xf_transport_mem *t, uint32_t type)
{
	struct pvstream *p = malloc(sizeof(*p));
	unsigned n = 0;

	assert_non_null(p);
	pvstream_take(p, t);
	for (size_t i = 0; i < p->n; i++)
		n += p->record[i].type == type;
	pvstream_free(p);
	free(p);
	return n;
}
