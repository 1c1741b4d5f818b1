/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inspect/internal.h"
#include "stream/rules.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int xf_inspect_refuse(struct inspection *in, uint64_t at, const char *what, const char *fmt, ...)
{
	char found[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(found, sizeof(found), fmt, args);
	va_end(args);
	return xf_error_set(in->e, -EPROTO, "%s at byte %" PRIu64 ": %s.", what, at, found);
}

void xf_inspect_tell(struct inspection *in, const struct xf_inspect_item *item)
{
	in->sum->skipped += (uint64_t)item->skipped;
	in->sink->item(in->sink->ctx, item);
}

int xf_inspect_fetch(struct inspection *in, void *buf, size_t len, const char *what)
{
	uint64_t at = in->t->bytes_read;
	size_t got;
	int ret = xf_transport_read(in->t, buf, len, &got);

	if (!ret)
		return 0;
	if (ret == -ENODATA)
		return xf_error_set(in->e, ret, "The file ends in %s at byte %" PRIu64 ": found %zu"
				    " bytes, expected %zu; " XF_ADVICE_CUT ".", what, at, got, len);
	return xf_error_set(in->e, ret, "Reading %s at byte %" PRIu64 " failed (%s): found %zu bytes,"
			    " expected %zu; look at the disk and try again.", what, at,
			    strerror(-ret), got, len);
}

int xf_inspect_skim(struct inspection *in, uint64_t len, const char *what,
		    void (*look)(void *ctx, const uint8_t *p, size_t n), void *ctx)
{
	while (len) {
		size_t n = len < XF_INSPECT_BUFFER ? (size_t)len : XF_INSPECT_BUFFER;
		int ret = xf_inspect_fetch(in, in->buffer, n, what);

		if (ret)
			return ret;
		if (look)
			look(ctx, in->buffer, n);
		if (in->sink->progress)
			in->sink->progress(in->sink->ctx, in->t->bytes_read);
		len -= n;
	}
	return 0;
}

/* The file ends where its last layer says. */
static int nothing_follows(struct inspection *in)
{
	uint64_t at = in->t->bytes_read;
	uint8_t byte;
	int ret = xf_transport_read(in->t, &byte, 1, NULL);

	if (ret == -ENODATA)
		return 0;
	if (ret)
		return xf_error_set(in->e, ret, "Reading on after the last record at byte %" PRIu64
				    " failed (%s): expected the end of the file; look at the disk and"
				    " try again.", at, strerror(-ret));
	return xf_inspect_refuse(in, at, "After the last record",
				 "found byte 0x%02x, expected the end of the file; something was"
				 " appended to the stream, so save the guest again or cut the file"
				 " there", byte);
}

static int by_head(struct inspection *in, const struct xf_transport_peek *p)
{
	char hex[3 * sizeof(p->head) + 1] = "";
	uint64_t head;

	memcpy(&head, p->head, sizeof(head));
	if (!memcmp(p->head, XF_SAVEFILE_MAGIC, sizeof(p->head)))
		return xf_inspect_savefile(in);
	if (be64toh(head) == XF_LIBXL_IDENT)
		return xf_inspect_libxl(in);
	if (head == XF_IMAGE_MARKER)
		return xf_inspect_libxc(in);
	for (size_t i = 0; i < sizeof(p->head); i++)
		snprintf(hex + 3 * i, sizeof(hex) - 3 * i, " %02x", p->head[i]);
	return xf_inspect_refuse(in, 0, "File", "found a file that starts with%s, expected \"Xen save\""
				 " (xl), \"LibxlFmt\" (libxl) or the marker ff ff ff ff ff ff ff ff"
				 " (libxc); give a file that \"xl save\" of Xen 4.6 or later wrote", hex);
}

static int head_cut(struct inspection *in, const struct xf_transport_peek *p, int ret)
{
	if (ret != -ENODATA)
		return xf_error_set(in->e, ret, "Reading the file failed (%s): expected a saved stream;"
				    " look at the disk and try again.", strerror(-ret));
	return xf_error_set(in->e, ret, "The file ends in its first header at byte 0: found %zu bytes,"
			    " expected at least %zu; " XF_ADVICE_CUT ".", p->have, sizeof(p->head));
}

int xf_inspect(struct xf_transport *t, const struct xf_inspect_sink *sink,
	       struct xf_inspect_summary *sum, struct xf_error *e)
{
	struct xf_transport_peek peek;
	struct inspection in = { &peek.base, sink, sum, e, NULL };
	int ret;

	*sum = (struct xf_inspect_summary){ 0 };
	in.buffer = malloc(XF_INSPECT_BUFFER);
	if (!in.buffer)
		return xf_error_set(e, -ENOMEM, "No memory for a buffer of %u bytes, expected it to be"
				    " there; free some and try again.", XF_INSPECT_BUFFER);
	ret = xf_transport_peek_init(&peek, t);
	ret = ret ? head_cut(&in, &peek, ret) : by_head(&in, &peek);
	if (!ret)
		ret = nothing_follows(&in);
	sum->bytes = peek.base.bytes_read;
	free(in.buffer);
	return ret;
}
