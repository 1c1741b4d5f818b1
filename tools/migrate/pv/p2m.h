/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A running guest's own P2M: where it lies, mapped and looked up as it is at
 * that moment. Linux changes single entries without a word (ballooning) and
 * counts in p2m_generation when the list itself moves or grows.
 */
#ifndef XENFERRY_PV_P2M_H
#define XENFERRY_PV_P2M_H

#include <stdbool.h>

#include "guest/xen_abi.h"
#include "guest/guest.h"
#include "pv/frames.h"
#include "stream/error.h"

struct pv_p2m {
	struct guest *raw;
	const shared_info_t *shared;	/* the guest's, mapped */
	struct pv_frames frames;	/* what it says now; replaced by pv_p2m_look */
	uint64_t *mfns, *pfns;		/* the frames the list is made of, each both ways */
	size_t n;
	void *view;			/* of those */
	uint64_t generation;
};

/* raw, and what is mapped of it, must outlive it. 0 or a negative errno with the sentence. */
int  pv_p2m_open(struct pv_p2m *p, struct guest *raw, uint64_t shared_info_mfn, struct xf_error *err);
void pv_p2m_close(struct pv_p2m *p);

/*
 * Looks where it lies now. again: whatever the generation says. *moved: the frames are not those
 * of the last look (true the first time). Nobody may look anything up meanwhile.
 */
int pv_p2m_look(struct pv_p2m *p, bool again, bool *moved, struct xf_error *err);

#endif
