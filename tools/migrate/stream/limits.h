/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What bounds the memory a stream can make us use, whatever it claims. */
#ifndef XENFERRY_STREAM_LIMITS_H
#define XENFERRY_STREAM_LIMITS_H

#include <stdint.h>

/*
 * Pages in one PAGE_DATA record. Stock writes 1024; a record with contents for
 * all of them could hold 32704 under the length limit every reader has.
 */
#define XF_RECORD_PAGES_MAX 65536u

/*
 * The body of any other record. The largest real ones are the PV frame list
 * (8 bytes for 2 MiB of guest) and the HVM context (some KiB a vCPU).
 */
#define XF_BODY_MAX (16u << 20)

/* A pfn is below this: physical addresses on x86 have at most 52 bits. */
#define XF_PFN_LIMIT (UINT64_C(1) << 40)

#endif
