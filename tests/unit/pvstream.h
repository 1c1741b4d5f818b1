/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A good stream taken apart into its records, to be put together again with one of them wrong. */
#ifndef PVSTREAM_H
#define PVSTREAM_H

#include <stddef.h>
#include <stdint.h>

#include "stream/wire.h"
#include "transport/transport.h"

#define PVSTREAM_RECORDS 512

struct pvrecord {
	uint32_t type;
	uint32_t length;
	uint8_t *body;
	size_t size;		/* bytes of the body, without padding */
};

struct pvstream {
	uint8_t headers[sizeof(struct xf_image_header) + sizeof(struct xf_domain_header)];
	struct pvrecord record[PVSTREAM_RECORDS];
	size_t n;
};

void pvstream_take(struct pvstream *p, const struct xf_transport_mem *t);
void pvstream_free(struct pvstream *p);
void pvstream_copy(struct pvstream *to, const struct pvstream *from);
/* As a stream to read. */
void pvstream_put(const struct pvstream *p, struct xf_transport_mem *t);

/* The nth (from 0) of a type; it must be there. */
struct pvrecord *pvstream_find(struct pvstream *p, uint32_t type, unsigned nth);
void pvstream_drop(struct pvstream *p, struct pvrecord *r);
/* A copy of r right behind it; it. */
struct pvrecord *pvstream_repeat(struct pvstream *p, struct pvrecord *r);
/* Another body of so many bytes, the old one as far as it goes and zeroes behind. */
void pvrecord_resize(struct pvrecord *r, size_t size);

/* In the last PAGE_DATA that has it with contents: its word, and its contents. */
uint64_t *pvstream_word(struct pvstream *p, uint64_t pfn);
uint64_t *pvstream_page(struct pvstream *p, uint64_t pfn);

unsigned pvstream_count(const struct xf_transport_mem *t, uint32_t type);

#endif
