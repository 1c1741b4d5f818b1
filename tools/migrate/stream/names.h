/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the numbers of the stream are called, and how long each record may be. */
#ifndef XENFERRY_STREAM_NAMES_H
#define XENFERRY_STREAM_NAMES_H

#include <stdint.h>

struct xf_record_kind {
	const char *name;
	uint32_t min;	/* length of the body: at least min, at most max, */
	uint32_t max;	/* and min plus a multiple of unit */
	uint32_t unit;
};

/* NULL for a type this table doesn't know. */
const struct xf_record_kind *xf_record_kind(uint32_t type);

/* Never NULL. */
const char *xf_record_name(uint32_t type);
const char *xf_libxl_record_name(uint32_t type);
const char *xf_guest_name(uint32_t type);
const char *xf_page_type_name(unsigned type);

#endif
