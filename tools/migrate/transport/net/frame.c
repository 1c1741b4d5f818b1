/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/frame.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct wire_head {
	uint8_t type, codec, channel, zero;
	uint32_t wire_len;	/* little-endian, as all that follows */
	uint32_t raw_len;
	uint32_t zero_too;
	uint64_t seq;
};
_Static_assert(sizeof(struct wire_head) == XF_FRAME_HEAD, "the head has no padding");

int xf_frame_is_ordered(const struct xf_frame *f)
{
	return f->type == XF_FRAME_DATA || f->type == XF_FRAME_EOF || f->type == XF_FRAME_EXIT;
}

void xf_frame_encode(const struct xf_frame *f, uint8_t head[XF_FRAME_HEAD])
{
	const struct wire_head w = {
		.type = f->type, .codec = f->codec, .channel = f->channel,
		.wire_len = htole32(f->wire_len), .raw_len = htole32(f->raw_len),
		.seq = htole64(f->seq),
	};

	memcpy(head, &w, sizeof(w));
}

static int check_data(const struct xf_frame *f, uint32_t codecs, struct xf_error *e)
{
	if (f->codec >= XF_CODECS || !(codecs & (1u << f->codec)))
		return xf_error_set(e, -EPROTO, "A frame came with codec %u, expected one of those agreed on;"
				    " the other side is broken.", f->codec);
	if (!f->raw_len || f->raw_len > XF_BLOCK)
		return xf_error_set(e, -EPROTO, "A frame came with %" PRIu32 " bytes, expected 1 to %u;"
				    " the other side is broken.", f->raw_len, XF_BLOCK);
	/* What would have grown is sent as it is, so a frame is never larger than its contents. */
	if (f->codec ? !f->wire_len || f->wire_len >= f->raw_len : f->wire_len != f->raw_len)
		return xf_error_set(e, -EPROTO, "A frame came with %" PRIu32 " bytes for %" PRIu32
				    " bytes of contents, expected %s; the other side is broken.",
				    f->wire_len, f->raw_len, f->codec ? "fewer" : "as many");
	return 0;
}

int xf_frame_decode(const uint8_t head[XF_FRAME_HEAD], uint32_t codecs, struct xf_frame *f,
		    struct xf_error *e)
{
	struct wire_head w;

	memcpy(&w, head, sizeof(w));
	*f = (struct xf_frame){
		.type = w.type, .codec = w.codec, .channel = w.channel,
		.wire_len = le32toh(w.wire_len), .raw_len = le32toh(w.raw_len),
		.seq = le64toh(w.seq),
	};
	if (f->type < XF_FRAME_DATA || f->type > XF_FRAME_BYE)
		return xf_error_set(e, -EPROTO, "A frame of type %u came, expected 1 to 5; the other side is"
				    " broken, or something else answers there.", f->type);
	if (w.zero || w.zero_too || f->channel >= XF_CHANNELS)
		return xf_error_set(e, -EPROTO, "A frame came for channel %u with reserved bytes %u and %"
				    PRIu32 ", expected channel 0 or 1 and zeroes; the other side is broken.",
				    f->channel, w.zero, le32toh(w.zero_too));
	if (f->type == XF_FRAME_DATA)
		return check_data(f, codecs, e);
	if (f->wire_len || f->codec || (f->raw_len && f->type != XF_FRAME_EXIT) ||
	    (f->seq && !xf_frame_is_ordered(f)))
		return xf_error_set(e, -EPROTO, "A frame of type %u came with contents, expected none;"
				    " the other side is broken.", f->type);
	return 0;
}
