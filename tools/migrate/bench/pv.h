/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a PV guest: they have machine numbers, of which only the guest itself keeps a list. */
#ifndef BENCH_PV_H
#define BENCH_PV_H

#include <stddef.h>
#include <stdint.h>

struct xenforeignmemory_handle;

/*
 * Reads the guest's linear P2M list, up to `room` frames. shared_info: the
 * frame it is in. -ENODATA: the guest names no such list.
 */
int bench_pv_frames(struct xenforeignmemory_handle *fmem, uint32_t domid, uint64_t shared_info,
		    uint64_t *frames, size_t room, size_t *count);

#endif
