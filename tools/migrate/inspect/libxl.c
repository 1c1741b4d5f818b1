/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The libxl stream: where the libxc stream is, and what belongs to the device model. */
#include "inspect/internal.h"
#include "stream/names.h"
#include "stream/rules.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int header(struct inspection *in)
{
	static const char what[] = "Libxl header";
	uint64_t at = in->t->bytes_read;
	struct xf_inspect_item item = { .layer = "libxl", .name = what, .offset = at };
	struct xf_libxl_header h;
	uint32_t options;
	int ret;

	ret = xf_inspect_fetch(in, &h, sizeof(h), "the libxl header");
	if (ret)
		return ret;
	options = be32toh(h.options);
	if (be64toh(h.ident) != XF_LIBXL_IDENT)
		return xf_inspect_refuse(in, at, what, "found ident 0x%016" PRIx64 ", expected 0x%016" PRIx64
					 " (LibxlFmt); %s", be64toh(h.ident), XF_LIBXL_IDENT,
					 XF_ADVICE_DAMAGED);
	if (be32toh(h.version) != XF_LIBXL_VERSION)
		return xf_inspect_refuse(in, at, what, "found version %u, expected %u; %s",
					 be32toh(h.version), XF_LIBXL_VERSION, XF_ADVICE_DAMAGED);
	if (options & XF_LIBXL_BIG_ENDIAN)
		return xf_inspect_refuse(in, at, what, "found options 0x%x (big-endian), expected a"
					 " little-endian stream; %s", options, XF_ADVICE_DAMAGED);
	item.length = sizeof(h);
	snprintf(item.detail, sizeof(item.detail), "version %u%s", XF_LIBXL_VERSION,
		 options & XF_LIBXL_LEGACY ? ", converted from a legacy stream" : "");
	xf_inspect_tell(in, &item);
	return 0;
}

static int refuse(struct inspection *in, const struct xf_inspect_item *item, const char *found)
{
	char what[80];

	snprintf(what, sizeof(what), "Libxl record %" PRIu64 " (%s)", item->number, item->name);
	return xf_inspect_refuse(in, item->offset, what, "%s; %s", found, XF_ADVICE_DAMAGED);
}

/* Which record may come when, and how long it may be. */
static int check(struct inspection *in, const struct xf_inspect_item *item, uint32_t seen)
{
	char text[200] = "";

	switch (item->type) {
	case XF_LIBXL_END:
	case XF_LIBXL_LIBXC_CONTEXT:
		if (item->length)
			snprintf(text, sizeof(text), "found a length of %u bytes, expected 0",
				 item->length);
		else if (item->type == XF_LIBXL_END && !(seen & (1u << XF_LIBXL_LIBXC_CONTEXT)))
			snprintf(text, sizeof(text), "found the end with no LIBXC_CONTEXT before it,"
				 " expected the guest's memory and state first");
		else if (seen & (1u << item->type))
			snprintf(text, sizeof(text), "found it a second time, expected it once");
		break;
	case XF_LIBXL_XENSTORE_DATA:
	case XF_LIBXL_EMULATOR_CONTEXT:
		if (item->length < sizeof(struct xf_libxl_emulator))
			snprintf(text, sizeof(text), "found a length of %u bytes, expected at least %zu",
				 item->length, sizeof(struct xf_libxl_emulator));
		break;
	case XF_LIBXL_CHECKPOINT_END:
	case XF_LIBXL_CHECKPOINT_STATE:
		snprintf(text, sizeof(text), "found it in a saved stream, expected it only between the"
			 " hosts of Remus or COLO");
		break;
	default:
		if (!item->skipped)
			snprintf(text, sizeof(text), "found the mandatory type 0x%08x, expected one of"
				 " those known (0x0 to 0x%x) or an optional one", item->type,
				 XF_LIBXL_KNOWN - 1);
	}
	return text[0] ? refuse(in, item, text) : 0;
}

struct strings {
	uint64_t nuls;
	uint8_t last;
};

static void count_strings(void *ctx, const uint8_t *p, size_t n)
{
	struct strings *s = ctx;

	for (size_t i = 0; i < n; i++)
		s->nuls += p[i] == '\0';
	s->last = p[n - 1];
}

/* Keys and values, each ended by a NUL. */
static int emulator(struct inspection *in, struct xf_inspect_item *item)
{
	struct xf_libxl_emulator h;
	struct strings s = { 0, 0 };
	int store = item->type == XF_LIBXL_XENSTORE_DATA;
	char text[160];
	int ret;

	ret = xf_inspect_fetch(in, &h, sizeof(h), "an emulator's header");
	if (ret)
		return ret;
	if (le32toh(h.id) >= XF_LIBXL_EMULATORS) {
		snprintf(text, sizeof(text), "found emulator id %u, expected 0 to %u", le32toh(h.id),
			 XF_LIBXL_EMULATORS - 1);
		return refuse(in, item, text);
	}
	ret = xf_inspect_skim(in, item->length - sizeof(h), item->name, count_strings, &s);
	if (ret)
		return ret;
	if (store && (s.last || s.nuls % 2)) {
		snprintf(text, sizeof(text), "found %" PRIu64 " strings%s, expected pairs that end with"
			 " NUL", s.nuls, s.last ? " and an open one" : "");
		return refuse(in, item, text);
	}
	if (store)
		snprintf(item->detail, sizeof(item->detail), "emulator %u, %" PRIu64 " keys",
			 le32toh(h.id), s.nuls / 2);
	else
		snprintf(item->detail, sizeof(item->detail), "emulator %u", le32toh(h.id));
	return xf_inspect_skim(in, xf_record_padding(item->length), "padding", NULL, NULL);
}

static int body(struct inspection *in, struct xf_inspect_item *item)
{
	if (item->type == XF_LIBXL_XENSTORE_DATA || item->type == XF_LIBXL_EMULATOR_CONTEXT)
		return emulator(in, item);
	return xf_inspect_skim(in, (uint64_t)item->length + xf_record_padding(item->length), item->name,
			       NULL, NULL);
}

int xf_inspect_libxl(struct inspection *in)
{
	struct xf_inspect_item item = { .layer = "libxl" };
	struct xf_record_header h;
	uint32_t seen = 0;
	int ret;

	ret = header(in);
	while (!ret) {
		item.number++;
		item.offset = in->t->bytes_read;
		item.detail[0] = '\0';
		ret = xf_inspect_fetch(in, &h, sizeof(h), "a libxl record's header, with no END yet,");
		if (ret)
			break;
		item.type = le32toh(h.type);
		item.length = le32toh(h.length);
		item.name = xf_libxl_record_name(item.type);
		item.skipped = (item.type & XF_RECORD_OPTIONAL) != 0;
		ret = check(in, &item, seen);
		if (!ret)
			ret = body(in, &item);
		if (ret)
			break;
		xf_inspect_tell(in, &item);
		if (item.type == XF_LIBXL_END)
			break;
		if (item.type < XF_LIBXL_KNOWN)
			seen |= 1u << item.type;
		if (item.type == XF_LIBXL_LIBXC_CONTEXT)
			ret = xf_inspect_libxc(in);
	}
	return ret;
}
