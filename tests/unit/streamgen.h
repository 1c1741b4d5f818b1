/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small streams for tests, byte by byte and right or wrong as asked. It shares
 * the wire structs with the product, but neither its writer nor its rules.
 */
#ifndef STREAMGEN_H
#define STREAMGEN_H

#include <stddef.h>
#include <stdint.h>

#include "stream/wire.h"

#define GEN_BOUNDS 128

struct gen {
	uint8_t *data;
	size_t size;
	size_t room;
	size_t bounds[GEN_BOUNDS];	/* where a header or record ended */
	size_t n_bounds;
};

void gen_free(struct gen *g);
void gen_bytes(struct gen *g, const void *p, size_t len);
void gen_bound(struct gen *g);

void gen_image(struct gen *g, uint64_t marker, uint32_t id, uint32_t version, uint16_t options);
void gen_domain(struct gen *g, uint32_t type, uint16_t page_shift);
void gen_headers(struct gen *g, uint32_t version, uint32_t guest); /* right ones */

/* length as claimed in the header; body of `len` bytes (zeroes for NULL), padded. */
void gen_record_claim(struct gen *g, uint32_t type, uint32_t length, const void *body, size_t len);
void gen_record(struct gen *g, uint32_t type, const void *body, size_t len);

/* PAGE_DATA: count as claimed, n words, then `pages` pages filled by gen_fill. */
void gen_pages_claim(struct gen *g, uint32_t count, const uint64_t *words, size_t n, size_t pages);
void gen_pages(struct gen *g, const uint64_t *words, size_t n); /* right count and contents */
void gen_fill(uint8_t *page, uint64_t pfn);			/* what a page holds; pfn % 4 == 3: zeroes */

void gen_hvm_params(struct gen *g, uint32_t count, size_t entries);

/* Whole streams. */
void gen_hvm_before_pages(struct gen *g, uint32_t version);	/* headers and static data */
void gen_hvm_after_pages(struct gen *g);			/* TSC, context, params, END */
void gen_hvm(struct gen *g, uint32_t version, uint64_t pages);
void gen_pv(struct gen *g, uint32_t version);

/* What goes around them. */
void gen_libxl_header(struct gen *g, uint64_t ident, uint32_t version, uint32_t options);
void gen_savefile(struct gen *g, const char *config);		/* header and configuration */
void gen_xl(struct gen *g, uint32_t version, uint64_t pages);	/* a whole save file */

#endif
