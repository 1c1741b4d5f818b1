/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A PV guest that is sent: to the engine a guest of pfns like any other. */
#ifndef XENFERRY_PV_SOURCE_H
#define XENFERRY_PV_SOURCE_H

#include "pv/forward.h"
#include "pv/p2m.h"
#include "pv/table.h"

struct pv_source {
	struct pv_around around;
	struct guest_pv_info info;
	struct pv_p2m p2m;
	bool moved;		/* the P2M, since the stream was told where it lies; who tells it clears this */
};

static inline struct guest *pv_source_guest(struct pv_source *s)
{
	return &s->around.base;
}

/*
 * raw: the backend's, stays the caller's and must outlive it. 0 or a negative
 * errno with the sentence. Closing the guest of it is closing it.
 */
int  pv_source_open(struct guest *raw, struct pv_source **out, struct xf_error *err);
void pv_source_close(struct pv_source *s);	/* NULL is allowed */

/*
 * Looks whether the P2M lies elsewhere now; last: the guest is suspended, so
 * look whatever its counter says. Nothing mapped before is mapped afterwards.
 */
int pv_source_look(struct pv_source *s, bool last, struct xf_error *err);

#endif
