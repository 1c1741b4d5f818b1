/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the stream of a PV guest has that others don't. Shared by the files of a save only. */
#ifndef XENFERRY_SAVE_PV_H
#define XENFERRY_SAVE_PV_H

#include "engine/save_internal.h"

/* X86_PV_INFO, the first of the static data. */
int save_pv_info(struct save *s);
/* Where the P2M lies: before the first page. */
int save_pv_p2m(struct save *s);
/* The guest is suspended: where it lies now, and again if it has moved; pages it has grown by may follow. */
int save_pv_look_last(struct save *s);
/* The shared info page and the vCPUs of the suspended guest. */
int save_pv_state(struct save *s);

#endif
