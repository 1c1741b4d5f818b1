/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A good stream of a PV guest with one thing wrong in it: refused with a sentence, nothing mapped or left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <xenctrl.h>

#include "enginejob.h"
#include "pvstream.h"

static const struct simpv_shape shape = { .pages = 700, .hole_from = 600, .hole_to = 620, .vcpus = 2 };

static struct pvstream good;
static uint64_t room;		/* pfns */

static int make_good(void **state)
{
	struct simpv from;
	struct job save;
	struct xf_transport_mem t;

	(void)state;
	simpv_boot(&from, &shape);
	room = from.pfns;
	job_init_pv(&save, &from);
	save.live = false;
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	if (job_save(&save, &t.base))
		fail_msg("%s", save.err.text);
	pvstream_take(&good, &t);
	xf_transport_mem_free(&t);
	simpv_free(&from);
	return 0;
}

static int drop_good(void **state)
{
	(void)state;
	pvstream_free(&good);
	return 0;
}

/* The same stream spoilt, received: its code; says is in the sentence (NULL: it goes well). */
static void received(void (*spoil)(struct pvstream *), int code, const char *says)
{
	struct xf_transport_mem t;
	struct pvstream p;
	struct simpv to;
	struct job j;
	int rc;

	pvstream_copy(&p, &good);
	if (spoil)
		spoil(&p);
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	pvstream_put(&p, &t);
	simpv_init(&to, room + 2048, shape.pages + 1024, shape.vcpus, true);
	job_init_pv(&j, &to);
	rc = job_restore(&j, &t.base);
	if (rc != code)
		fail_msg("expected %d and \"%s\", found %d (%s)", code, says ? says : "", rc, j.err.text);
	if (says)
		job_expect_error(&j, says, NULL);
	job_expect_quiet(&j);
	xf_transport_mem_free(&t);
	pvstream_free(&p);
	simpv_free(&to);
}

static void unspoilt(void **state)
{
	(void)state;
	received(NULL, 0, NULL);
}

/* ---- records that are missing, repeated, or of the wrong size ------------- */

static uint32_t which;
static unsigned nth;

static void drop(struct pvstream *p)
{
	pvstream_drop(p, pvstream_find(p, which, nth));
}

static void drop_all(struct pvstream *p)
{
	for (size_t i = p->n; i--; )
		if (p->record[i].type == which)
			pvstream_drop(p, &p->record[i]);
}

static void repeat(struct pvstream *p)
{
	pvstream_repeat(p, pvstream_find(p, which, nth));
}

static void shorter(struct pvstream *p)
{
	struct pvrecord *r = pvstream_find(p, which, nth);

	pvrecord_resize(r, r->size - 8);
}

static void longer(struct pvstream *p)
{
	struct pvrecord *r = pvstream_find(p, which, nth);

	pvrecord_resize(r, r->size + 8);
}

static void with(uint32_t type, unsigned n, void (*spoil)(struct pvstream *), int code, const char *says)
{
	which = type;
	nth = n;
	received(spoil, code, says);
}

static void missing(void **state)
{
	(void)state;
	with(XF_REC_X86_PV_INFO, 0, drop, -EPROTO, "X86_PV_INFO");
	with(XF_REC_X86_PV_P2M_FRAMES, 0, drop, -EPROTO, "X86_PV_P2M_FRAMES");
	with(XF_REC_STATIC_DATA_END, 0, drop, -EPROTO, "STATIC_DATA_END");
	with(XF_REC_SHARED_INFO, 0, drop, -EPROTO, "without SHARED_INFO");
	with(XF_REC_X86_PV_VCPU_BASIC, 0, drop, -EPROTO, "without the registers of vCPU 0");
	with(XF_REC_PAGE_DATA, 0, drop_all, -ERANGE, "P2M");
	with(XF_REC_END, 0, drop, -ENODATA, "END");
}

static void repeated(void **state)
{
	(void)state;
	with(XF_REC_X86_PV_INFO, 0, repeat, -EPROTO, "a second time");
	with(XF_REC_SHARED_INFO, 0, repeat, -EPROTO, "a second time");
	with(XF_REC_X86_PV_VCPU_BASIC, 0, repeat, -EPROTO, "vCPU 0 a second time");
	with(XF_REC_X86_PV_VCPU_BASIC, 1, repeat, -EPROTO, "vCPU 1 a second time");
	with(XF_REC_X86_PV_VCPU_EXTENDED, 1, repeat, -EPROTO, "vCPU 1 a second time");
	with(XF_REC_X86_PV_VCPU_XSAVE, 0, repeat, -EPROTO, "vCPU 0 a second time");
	with(XF_REC_X86_PV_VCPU_MSRS, 0, repeat, -EPROTO, "vCPU 0 a second time");
	/* These may come again. */
	with(XF_REC_X86_PV_P2M_FRAMES, 0, repeat, 0, NULL);
	with(XF_REC_PAGE_DATA, 0, repeat, 0, NULL);
}

static void wrong_sizes(void **state)
{
	(void)state;
	with(XF_REC_X86_PV_INFO, 0, longer, -EPROTO, "length");
	with(XF_REC_X86_PV_P2M_FRAMES, 0, shorter, -EPROTO, "32-bit guest");
	with(XF_REC_X86_PV_P2M_FRAMES, 0, longer, -EPROTO, "frames");
	with(XF_REC_SHARED_INFO, 0, shorter, -EPROTO, "length");
	with(XF_REC_SHARED_INFO, 0, longer, -EPROTO, "length");
	with(XF_REC_X86_PV_VCPU_BASIC, 0, shorter, -EPROTO, "vCPU 0");
	with(XF_REC_X86_PV_VCPU_BASIC, 0, longer, -EPROTO, "vCPU 0");
	with(XF_REC_X86_PV_VCPU_EXTENDED, 0, longer, -EPROTO, "vCPU 0");
	with(XF_REC_X86_PV_VCPU_MSRS, 0, longer, -EPROTO, "length");
}

/* ---- numbers ------------------------------------------------------------ */

static uint64_t number;

static vcpu_guest_context_t *registers(struct pvstream *p, unsigned n)
{
	return (vcpu_guest_context_t *)(pvstream_find(p, XF_REC_X86_PV_VCPU_BASIC, n)->body + sizeof(struct xf_pv_vcpu));
}

static void vcpu_id(struct pvstream *p)
{
	uint32_t id = (uint32_t)number;

	memcpy(pvstream_find(p, which, 1)->body, &id, sizeof(id));
}

static void vcpu_ids(void **state)
{
	(void)state;
	which = XF_REC_X86_PV_VCPU_BASIC;
	for (int i = 0; i < 2; i++, which = XF_REC_X86_PV_VCPU_EXTENDED) {
		number = 2;
		received(vcpu_id, -EPROTO, "vCPU 2, expected ids below 2");
		number = UINT32_MAX;
		received(vcpu_id, -EPROTO, "vCPU 4294967295");
		number = 0;
		received(vcpu_id, -EPROTO, "vCPU 0 a second time");
	}
}

static void gdt_size(struct pvstream *p)
{
	registers(p, 1)->gdt_ents = number;
}

static void gdt_frame(struct pvstream *p)
{
	registers(p, 1)->gdt_frames[0] = number;
}

static void cr3(struct pvstream *p)
{
	registers(p, 0)->ctrlreg[3] = number << XF_PAGE_SHIFT;
}

static void cr1(struct pvstream *p)
{
	registers(p, 0)->ctrlreg[1] = number << XF_PAGE_SHIFT | 1;
}

static void rdx(struct pvstream *p)
{
	registers(p, 0)->user_regs.rdx = number;
}

/* The first page of a level; 0: the first that is no table. Its pfn. */
static uint64_t page_of(const struct pvstream *p, unsigned level)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct pvrecord *r = &p->record[i];
		struct xf_page_data head;

		if (r->type != XF_REC_PAGE_DATA)
			continue;
		memcpy(&head, r->body, sizeof(head));
		for (uint32_t k = 0; k < head.count; k++) {
			uint64_t word;

			memcpy(&word, r->body + sizeof(head) + k * sizeof(word), sizeof(word));
			if ((xf_word_type(word) & ~(unsigned)XF_PAGE_PINNED) == level)
				return xf_word_pfn(word);
		}
	}
	fail_msg("no page of level %u", level);
	return 0;
}

static const uint64_t *nowhere(void)
{
	static uint64_t bad[4];

	bad[0] = shape.hole_from + 1;	/* a hole */
	bad[1] = shape.pages + 100;
	bad[2] = UINT64_C(1) << 39;
	bad[3] = UINT64_MAX >> XF_PAGE_SHIFT;
	return bad;
}

static void bad_registers(void **state)
{
	(void)state;
	number = FIRST_RESERVED_GDT_ENTRY + 1;
	received(gdt_size, -EPROTO, "GDT size");
	number = UINT64_MAX;
	received(gdt_size, -EPROTO, "GDT size");
	for (int i = 0; i < 4; i++) {
		number = nowhere()[i];
		received(gdt_frame, -EPROTO, "GDT frame");
		received(cr3, -EPROTO, "cr3");
		received(cr1, -EPROTO, "cr3 of user mode");
		received(rdx, -EPROTO, "start info page");
	}
	number = page_of(&good, 1);
	received(gdt_frame, -EPROTO, "GDT frame");
	received(cr3, -EPROTO, "page table of level 4");
	received(cr1, -EPROTO, "page table of level 4");
	received(rdx, -EPROTO, "no table");
	number = page_of(&good, 0);
	received(cr3, -EPROTO, "page table of level 4");
}

static void store_pfn(struct pvstream *p)
{
	((start_info_t *)pvstream_page(p, registers(p, 0)->user_regs.rdx))->store_mfn = number;
}

static void console_pfn(struct pvstream *p)
{
	((start_info_t *)pvstream_page(p, registers(p, 0)->user_regs.rdx))->console.domU.mfn = number;
}

static void bad_start_info(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		number = nowhere()[i];
		received(store_pfn, -ERANGE, "store page");
		received(console_pfn, -ERANGE, "console page");
	}
}

/* ---- page tables -------------------------------------------------------- */

static unsigned level;

static void entry(struct pvstream *p)
{
	uint64_t *table = pvstream_page(p, page_of(p, level));

	table[7] = (number << XF_PAGE_SHIFT & UINT64_C(0x000ffffffffff000)) | 0x67;
}

static void entries(void **state)
{
	(void)state;
	for (level = 1; level <= 4; level++)
		for (int i = 0; i < 3; i++) {
			number = nowhere()[i];
			received(entry, -ERANGE, "page table of level");
		}
}

static void type_of_table(struct pvstream *p)
{
	uint64_t pfn = page_of(p, level);

	*pvstream_word(p, pfn) = xf_page_word(pfn, (enum xf_page_type)number);
}

/* Xen has the last word on what is a table. */
static void wrong_types(void **state)
{
	(void)state;
	level = 4;
	number = XF_PAGE_NOTAB;
	received(type_of_table, -EPROTO, "page table of level 4");
	level = 1;
	number = XF_PAGE_L2TAB | XF_PAGE_PINNED;
	received(type_of_table, -EINVAL, "Xen refused page tables");
}

/* ---- where the P2M lies ------------------------------------------------- */

static uint64_t *p2m_frames(struct pvstream *p)
{
	return (uint64_t *)(pvstream_find(p, XF_REC_X86_PV_P2M_FRAMES, 0)->body + sizeof(struct xf_pv_p2m_frames));
}

static void p2m_frame(struct pvstream *p)
{
	p2m_frames(p)[0] = number;
}

static void p2m_begins_late(struct pvstream *p)
{
	struct pvrecord *r = pvstream_find(p, XF_REC_X86_PV_P2M_FRAMES, 0);
	struct xf_pv_p2m_frames head;

	memcpy(&head, r->body, sizeof(head));
	head.start_pfn = 512;
	memmove(r->body + sizeof(head), r->body + sizeof(head) + 8, r->size - sizeof(head) - 8);
	pvrecord_resize(r, r->size - 8);
	memcpy(r->body, &head, sizeof(head));
}

static void p2m_reversed(struct pvstream *p)
{
	struct xf_pv_p2m_frames head = { .start_pfn = 9, .end_pfn = 8 };

	memcpy(pvstream_find(p, XF_REC_X86_PV_P2M_FRAMES, 0)->body, &head, sizeof(head));
}

static void p2m_too_small(struct pvstream *p)
{
	struct pvrecord *r = pvstream_find(p, XF_REC_X86_PV_P2M_FRAMES, 0);
	struct xf_pv_p2m_frames head = { .start_pfn = 0, .end_pfn = 100 };

	pvrecord_resize(r, sizeof(head) + 8);
	memcpy(r->body, &head, sizeof(head));
}

static void bad_p2m(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		number = nowhere()[i];
		received(p2m_frame, -ERANGE, "Page 0 of the P2M");
	}
	number = page_of(&good, 1);
	received(p2m_frame, -ERANGE, "is a page table");
	received(p2m_begins_late, -ERANGE, "not in the stream");
	received(p2m_reversed, -EPROTO, "first to be below");
	received(p2m_too_small, -EPROTO, "expected one below 0x65");
}

static void half_as_wide(struct pvstream *p)
{
	struct xf_pv_info info = { .guest_width = 4, .pt_levels = 3 };

	memcpy(pvstream_find(p, XF_REC_X86_PV_INFO, 0)->body, &info, sizeof(info));
}

static void of_no_width(struct pvstream *p)
{
	struct xf_pv_info info = { .guest_width = 8, .pt_levels = 3 };

	memcpy(pvstream_find(p, XF_REC_X86_PV_INFO, 0)->body, &info, sizeof(info));
}

static void widths(void **state)
{
	(void)state;
	received(half_as_wide, -EOPNOTSUPP, "32 bits");
	received(of_no_width, -EPROTO, "levels");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unspoilt),
		cmocka_unit_test(missing),
		cmocka_unit_test(repeated),
		cmocka_unit_test(wrong_sizes),
		cmocka_unit_test(vcpu_ids),
		cmocka_unit_test(bad_registers),
		cmocka_unit_test(bad_start_info),
		cmocka_unit_test(entries),
		cmocka_unit_test(wrong_types),
		cmocka_unit_test(bad_p2m),
		cmocka_unit_test(widths),
	};

	return cmocka_run_group_tests(tests, make_good, drop_good);
}
