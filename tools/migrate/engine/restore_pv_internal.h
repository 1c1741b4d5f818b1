/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is kept of a PV guest's stream. */
#ifndef XENFERRY_RESTORE_PV_INTERNAL_H
#define XENFERRY_RESTORE_PV_INTERNAL_H

#include "guest/guest.h"
#include "pv/target.h"

struct restore_vcpu {
	struct guest_blob parts[GUEST_VCPU_PARTS];	/* size 0: didn't come */
};

struct restore_pv {
	struct pv_target *target;
	bool info_seen;
	uint64_t *p2m;			/* pages the P2M consists of; PV_NO_FRAME: didn't come */
	size_t p2m_pages;
	uint64_t pfns;			/* that it has entries for, as the stream says */
	struct guest_blob shared_info;
	struct restore_vcpu *vcpus;	/* as many as the domain has */
};

#endif
