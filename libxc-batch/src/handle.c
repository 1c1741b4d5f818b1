/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int xcbatch_open(struct xcbatch **out)
{
	struct xcbatch *xb;
	int rc;

	if (!out)
		return -EINVAL;
	xb = calloc(1, sizeof(*xb));
	if (!xb)
		return -ENOMEM;
	rc = os_privcmd_open(&xb->os);
	if (rc < 0) {
		free(xb);
		return rc;
	}
	*out = xb;
	return 0;
}

void xcbatch_close(struct xcbatch *xb)
{
	if (!xb)
		return;
	os_privcmd_close(&xb->os);
	free(xb);
}

void xcbatch_driver(const struct xcbatch *xb, struct xcbatch_driver *out)
{
	memset(out, 0, sizeof(*out));
	out->batched = xb->os.batched;
	out->features = xb->os.features;
	memcpy(out->version, xb->os.version, sizeof(out->version));
}

int xcbatch_counters(const struct xcbatch *xb, struct xcbatch_counters *out)
{
	return os_privcmd_counters(&xb->os, out);
}
