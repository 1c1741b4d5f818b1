/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inspection of arbitrary bytes as a save file, from xl's header inwards. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void item(void *ctx, const struct xf_inspect_item *i)
{
	uint64_t *last = ctx;

	if (i->offset < *last || !memchr(i->detail, '\0', sizeof(i->detail)) || !i->name[0])
		abort();
	*last = i->offset;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t last = 0;
	const struct xf_inspect_sink sink = { .item = item, .ctx = &last };
	struct xf_inspect_summary sum;
	struct xf_error e = { 0 };
	struct xf_transport_mem t;
	int ret;

	if (xf_transport_mem_init(&t, data, size))
		return 0;
	ret = xf_inspect(&t.base, &sink, &sum, &e);
	if ((ret && ret != -EPROTO && ret != -ENODATA) || e.code != ret || !ret != !e.text[0] ||
	    sum.bytes > size)
		abort();
	xf_transport_mem_free(&t);
	return 0;
}
