// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pv/vcpu.h"

#include <errno.h>

#include "pv/table.h"
#include "stream/wire.h"

/* In the stream a second page table, that of user mode, is there if this bit of ctrlreg[1] is. */
#define CR1_THERE UINT64_C(1)

static int refuse(struct pv_bad_register *bad, const char *name, uint64_t value, const char *expected)
{
	*bad = (struct pv_bad_register) { name, value, expected };
	return -ERANGE;
}

static int check_gdt(const vcpu_guest_context_t *v, struct pv_bad_register *bad)
{
	return v->gdt_ents <= FIRST_RESERVED_GDT_ENTRY ? 0 :
	       refuse(bad, "GDT size", v->gdt_ents, "at most 7168 entries");
}

static unsigned gdt_frames(const vcpu_guest_context_t *v)
{
	return (unsigned)((v->gdt_ents + PV_ENTRIES - 1) / PV_ENTRIES);
}

/* ---- to the guest's ----------------------------------------------------- */

static int to_pfn(const struct pv_frames *f, const char *name, uint64_t mfn, unsigned long *pfn,
		  struct pv_bad_register *bad)
{
	uint64_t found = pv_pfn(f, mfn);

	if (found == PV_NO_FRAME)
		return refuse(bad, name, mfn, "a frame of the guest's");
	*pfn = found;
	return 0;
}

int pv_vcpu_to_pfns(const struct pv_frames *f, bool first, vcpu_guest_context_t *v,
		    struct pv_bad_register *bad)
{
	unsigned long pfn;
	int rc = check_gdt(v, bad);

	if (!rc && first) {
		rc = to_pfn(f, "start info page", v->user_regs.rdx, &pfn, bad);
		if (!rc)
			v->user_regs.rdx = pfn;
	}
	for (unsigned i = 0; !rc && i < gdt_frames(v); i++)
		rc = to_pfn(f, "GDT frame", v->gdt_frames[i], &v->gdt_frames[i], bad);
	if (!rc)
		rc = to_pfn(f, "cr3", v->ctrlreg[3] >> XF_PAGE_SHIFT, &pfn, bad);
	if (rc)
		return rc;
	v->ctrlreg[3] = pfn << XF_PAGE_SHIFT;
	if (!v->ctrlreg[1])
		return 0;
	rc = to_pfn(f, "cr3 of user mode", v->ctrlreg[1] >> XF_PAGE_SHIFT, &pfn, bad);
	if (!rc)
		v->ctrlreg[1] = pfn << XF_PAGE_SHIFT | CR1_THERE;
	return rc;
}

/* ---- to the machine's --------------------------------------------------- */

struct target {
	const struct pv_frames *frames;
	const uint8_t *types;
	struct pv_bad_register *bad;
};

static int to_mfn(const struct target *t, const char *name, uint64_t pfn, unsigned level,
		  unsigned long *mfn)
{
	uint64_t found = pv_mfn(t->frames, pfn);

	if (found == PV_NO_FRAME)
		return refuse(t->bad, name, pfn, "a page with memory");
	if (level ? pv_table_level(t->types[pfn]) != level : t->types[pfn] != XF_PAGE_NOTAB)
		return refuse(t->bad, name, pfn, level ? "a page table of level 4" : "a page that is no table");
	*mfn = found;
	return 0;
}

int pv_vcpu_to_mfns(const struct pv_frames *f, const uint8_t *types, bool first, vcpu_guest_context_t *v,
		    struct pv_bad_register *bad)
{
	const struct target t = { f, types, bad };
	unsigned long mfn;
	int rc = check_gdt(v, bad);

	if (!rc && first) {
		rc = to_mfn(&t, "start info page", v->user_regs.rdx, 0, &mfn);
		if (!rc)
			v->user_regs.rdx = mfn;
	}
	for (unsigned i = 0; !rc && i < gdt_frames(v); i++)
		rc = to_mfn(&t, "GDT frame", v->gdt_frames[i], 0, &v->gdt_frames[i]);
	if (!rc)
		rc = to_mfn(&t, "cr3", v->ctrlreg[3] >> XF_PAGE_SHIFT, 4, &mfn);
	if (rc)
		return rc;
	v->ctrlreg[3] = mfn << XF_PAGE_SHIFT;
	v->flags |= VGCF_online;
	if (!(v->ctrlreg[1] & CR1_THERE))
		return 0;
	rc = to_mfn(&t, "cr3 of user mode", v->ctrlreg[1] >> XF_PAGE_SHIFT, 4, &mfn);
	if (!rc)
		v->ctrlreg[1] = mfn << XF_PAGE_SHIFT;
	return rc;
}
