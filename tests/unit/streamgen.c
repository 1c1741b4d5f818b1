/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "streamgen.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

void gen_free(struct gen *g)
{
	free(g->data);
	*g = (struct gen){ 0 };
}

void gen_bytes(struct gen *g, const void *p, size_t len)
{
	if (g->size + len > g->room) {
		g->room = (g->size + len) * 2;
		g->data = realloc(g->data, g->room);
		assert(g->data);
	}
	if (!len)
		return;
	if (p)
		memcpy(g->data + g->size, p, len);
	else
		memset(g->data + g->size, 0, len);
	g->size += len;
}

void gen_bound(struct gen *g)
{
	if (g->n_bounds < GEN_BOUNDS)
		g->bounds[g->n_bounds++] = g->size;
}

void gen_image(struct gen *g, uint64_t marker, uint32_t id, uint32_t version, uint16_t options)
{
	struct xf_image_header h = {
		.marker = htobe64(marker),
		.id = htobe32(id),
		.version = htobe32(version),
		.options = htobe16(options),
	};

	gen_bytes(g, &h, sizeof(h));
	gen_bound(g);
}

void gen_domain(struct gen *g, uint32_t type, uint16_t page_shift)
{
	struct xf_domain_header h = {
		.type = htole32(type),
		.page_shift = htole16(page_shift),
		.xen_major = htole32(4),
		.xen_minor = htole32(17),
	};

	gen_bytes(g, &h, sizeof(h));
	gen_bound(g);
}

void gen_headers(struct gen *g, uint32_t version, uint32_t guest)
{
	gen_image(g, XF_IMAGE_MARKER, XF_IMAGE_ID, version, 0);
	gen_domain(g, guest, XF_PAGE_SHIFT);
}

static void record_header(struct gen *g, uint32_t type, uint32_t length)
{
	struct xf_record_header h = { htole32(type), htole32(length) };

	gen_bytes(g, &h, sizeof(h));
}

static void pad(struct gen *g, size_t len)
{
	gen_bytes(g, NULL, -len & 7);
	gen_bound(g);
}

void gen_record_claim(struct gen *g, uint32_t type, uint32_t length, const void *body, size_t len)
{
	record_header(g, type, length);
	gen_bytes(g, body, len);
	pad(g, len);
}

void gen_record(struct gen *g, uint32_t type, const void *body, size_t len)
{
	gen_record_claim(g, type, (uint32_t)len, body, len);
}

void gen_fill(uint8_t *page, uint64_t pfn)
{
	uint64_t x = pfn * UINT64_C(0x9e3779b97f4a7c15) + 1;

	memset(page, 0, XF_PAGE_SIZE);
	if (pfn % 4 == 3)
		return;
	for (size_t i = 0; i < XF_PAGE_SIZE; i += sizeof(x), x = x * 6364136223846793005u + 1)
		memcpy(page + i, &x, sizeof(x));
}

void gen_pages_claim(struct gen *g, uint32_t count, const uint64_t *words, size_t n, size_t pages)
{
	struct xf_page_data d = { .count = htole32(count) };
	uint8_t page[XF_PAGE_SIZE];
	size_t done = 0;

	record_header(g, XF_REC_PAGE_DATA,
		      (uint32_t)(sizeof(d) + n * sizeof(*words) + pages * XF_PAGE_SIZE));
	gen_bytes(g, &d, sizeof(d));
	gen_bytes(g, words, n * sizeof(*words));
	for (size_t i = 0; i < n && done < pages; i++) {
		if (!xf_page_type_has_data(xf_word_type(words[i])))
			continue;
		gen_fill(page, xf_word_pfn(words[i]));
		gen_bytes(g, page, sizeof(page));
		done++;
	}
	gen_bytes(g, NULL, (pages - done) * XF_PAGE_SIZE);
	gen_bound(g);
}

void gen_pages(struct gen *g, const uint64_t *words, size_t n)
{
	size_t pages = 0;

	for (size_t i = 0; i < n; i++)
		pages += (size_t)xf_page_type_has_data(xf_word_type(words[i]));
	gen_pages_claim(g, (uint32_t)n, words, n, pages);
}

void gen_hvm_params(struct gen *g, uint32_t count, size_t entries)
{
	struct {
		struct xf_hvm_params head;
		struct xf_hvm_param entry[8];
	} p = { .head.count = htole32(count) };

	assert(entries <= 8);
	for (size_t i = 0; i < entries; i++)
		p.entry[i] = (struct xf_hvm_param){ htole64(i + 1), htole64(0xfeff8 + i) };
	gen_record(g, XF_REC_HVM_PARAMS, &p, sizeof(p.head) + entries * sizeof(p.entry[0]));
}

void gen_hvm_before_pages(struct gen *g, uint32_t version)
{
	gen_headers(g, version, XF_GUEST_X86_HVM);
	if (version < 3)
		return;
	gen_record(g, XF_REC_X86_CPUID_POLICY, NULL, 2 * XF_CPUID_LEAF_SIZE);
	gen_record(g, XF_REC_X86_MSR_POLICY, NULL, XF_MSR_ENTRY_SIZE);
	gen_record(g, XF_REC_STATIC_DATA_END, NULL, 0);
}

void gen_hvm_after_pages(struct gen *g)
{
	struct xf_tsc_info tsc = { .mode = htole32(2), .khz = htole32(2400000) };
	uint8_t context[100];

	memset(context, 0xc5, sizeof(context));
	gen_record(g, XF_REC_X86_TSC_INFO, &tsc, sizeof(tsc));
	gen_record(g, XF_REC_HVM_CONTEXT, context, sizeof(context));
	gen_hvm_params(g, 3, 3);
	gen_record(g, XF_REC_END, NULL, 0);
}

void gen_hvm(struct gen *g, uint32_t version, uint64_t pages)
{
	uint64_t words[64];
	uint64_t pfn = 0;

	gen_hvm_before_pages(g, version);
	while (pfn < pages) {
		size_t n = 0;

		for (; n < 64 && pfn < pages; n++, pfn++)
			words[n] = htole64(xf_page_word(pfn, pfn % 7 == 5 ? XF_PAGE_XALLOC :
							     XF_PAGE_NOTAB));
		gen_pages(g, words, n);
	}
	gen_hvm_after_pages(g);
}

void gen_pv(struct gen *g, uint32_t version)
{
	struct xf_pv_info info = { .guest_width = 8, .pt_levels = 4 };
	struct {
		struct xf_pv_p2m_frames head;
		uint64_t frame[2];
	} p2m = { .head.end_pfn = htole32(600), .frame = { htole64(1), htole64(2) } };
	uint64_t words[] = {
		htole64(xf_page_word(1, XF_PAGE_L1TAB)),
		htole64(xf_page_word(2, XF_PAGE_PINNED | XF_PAGE_L4TAB)),
		htole64(xf_page_word(5, XF_PAGE_BROKEN)),
		htole64(xf_page_word(6, XF_PAGE_XTAB)),
	};

	gen_headers(g, version, XF_GUEST_X86_PV);
	gen_record(g, XF_REC_X86_PV_INFO, &info, sizeof(info));
	if (version >= 3)
		gen_record(g, XF_REC_STATIC_DATA_END, NULL, 0);
	gen_record(g, XF_REC_X86_PV_P2M_FRAMES, &p2m, sizeof(p2m));
	gen_pages(g, words, 4);
	gen_record(g, XF_REC_X86_TSC_INFO, NULL, sizeof(struct xf_tsc_info));
	gen_record(g, XF_REC_SHARED_INFO, NULL, XF_PAGE_SIZE);
	gen_record(g, XF_REC_X86_PV_VCPU_BASIC, NULL, sizeof(struct xf_pv_vcpu) + 40);
	gen_record(g, XF_REC_X86_PV_VCPU_MSRS, NULL, sizeof(struct xf_pv_vcpu) + 2 * XF_PV_VCPU_MSR_SIZE);
	gen_record(g, XF_REC_END, NULL, 0);
}

void gen_libxl_header(struct gen *g, uint64_t ident, uint32_t version, uint32_t options)
{
	struct xf_libxl_header h = { htobe64(ident), htobe32(version), htobe32(options) };

	gen_bytes(g, &h, sizeof(h));
	gen_bound(g);
}

void gen_savefile(struct gen *g, const char *config)
{
	uint32_t len = config ? (uint32_t)strlen(config) + 1 : 0;
	struct xf_savefile_header h = {
		.magic = XF_SAVEFILE_MAGIC,
		.byteorder = XF_SAVEFILE_BYTEORDER,
		.mandatory_flags = XF_SAVEFILE_STREAM_V2 | (config ? XF_SAVEFILE_JSON : 0),
		.optional_data_len = config ? len + 4 : 0,
	};

	gen_bytes(g, &h, sizeof(h));
	gen_bound(g);
	if (!config)
		return;
	gen_bytes(g, &len, sizeof(len));
	gen_bytes(g, config, len);
	gen_bound(g);
}

void gen_xl(struct gen *g, uint32_t version, uint64_t pages)
{
	static const char store[] = "\1\0\0\0\0\0\0\0physmap\0none";
	struct xf_libxl_emulator emulator = { htole32(2), 0 };

	gen_savefile(g, "{\"c_info\":{\"type\":\"pvh\",\"name\":\"guest\"}}");
	gen_libxl_header(g, XF_LIBXL_IDENT, XF_LIBXL_VERSION, 0);
	gen_record(g, XF_LIBXL_LIBXC_CONTEXT, NULL, 0);
	gen_hvm(g, version, pages);
	gen_record(g, XF_LIBXL_XENSTORE_DATA, store, sizeof(store));
	gen_record(g, XF_LIBXL_EMULATOR_CONTEXT, &emulator, sizeof(emulator));
	gen_record(g, XF_LIBXL_END, NULL, 0);
}
