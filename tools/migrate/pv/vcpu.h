/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames a vCPU's registers hold, made the guest's or the machine's. Pure functions. */
#ifndef XENFERRY_PV_VCPU_H
#define XENFERRY_PV_VCPU_H

#include <stdbool.h>

#include "guest/xen_abi.h"
#include "pv/frames.h"

/* The register that was refused: "cr3", "GDT frame", ... */
struct pv_bad_register {
	const char *name;
	uint64_t value;
	const char *expected;
};

/*
 * first: vCPU 0, whose RDX holds the start info page, as a suspended guest's
 * does. -ERANGE: a register holds no frame of the guest.
 */
int pv_vcpu_to_pfns(const struct pv_frames *f, bool first, vcpu_guest_context_t *v,
		    struct pv_bad_register *bad);
/* The other way round; types[pfn]: XF_PAGE_*, as long as f's P2M. -ERANGE: no memory there, or not of that type. */
int pv_vcpu_to_mfns(const struct pv_frames *f, const uint8_t *types, bool first, vcpu_guest_context_t *v,
		    struct pv_bad_register *bad);

#endif
