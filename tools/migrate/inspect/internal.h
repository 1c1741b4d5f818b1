/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layers of the inspection share. */
#ifndef XENFERRY_INSPECT_INTERNAL_H
#define XENFERRY_INSPECT_INTERNAL_H

#include "inspect/inspect.h"

#define XF_INSPECT_BUFFER (64u << 10)

struct inspection {
	struct xf_transport *t;
	const struct xf_inspect_sink *sink;
	struct xf_inspect_summary *sum;
	struct xf_error *e;
	uint8_t *buffer;	/* XF_INSPECT_BUFFER bytes for whoever is at work */
};

/* One a layer. Each reads from its header to its end, and no further. */
int xf_inspect_savefile(struct inspection *in);
int xf_inspect_libxl(struct inspection *in);
int xf_inspect_libxc(struct inspection *in);

/* Exactly len bytes, or the sentence that says which part was cut. */
int xf_inspect_fetch(struct inspection *in, void *buf, size_t len, const char *what);
/* Reads over len bytes; each piece goes to look(ctx, ...) if that isn't NULL. */
int xf_inspect_skim(struct inspection *in, uint64_t len, const char *what,
		    void (*look)(void *ctx, const uint8_t *p, size_t n), void *ctx);
int xf_inspect_refuse(struct inspection *in, uint64_t at, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void xf_inspect_tell(struct inspection *in, const struct xf_inspect_item *item);

#endif
