/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the stream of a PV guest has that others don't. Shared by the files of a restore only. */
#ifndef XENFERRY_RESTORE_PV_H
#define XENFERRY_RESTORE_PV_H

#include "engine/restore_internal.h"

/* r->guest becomes a guest of pfns. */
int  restore_pv_open(struct restore *r);
void restore_pv_close(struct restore *r);	/* fine where there is none */

/* Words of a PAGE_DATA record that have been dealt with. */
void restore_pv_note(struct restore *r, const uint64_t *words, size_t n);

int restore_pv_info(struct restore *r, const struct xf_record *rec);
int restore_pv_p2m(struct restore *r, const struct xf_record *rec);
int restore_pv_shared_info(struct restore *r, const struct xf_record *rec);
int restore_pv_vcpu(struct restore *r, const struct xf_record *rec);

/* All of the stream is there: puts the guest together. */
int restore_pv_complete(struct restore *r);

#endif
