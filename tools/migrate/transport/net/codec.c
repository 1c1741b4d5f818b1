/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/codec.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define ZSTD_LEVEL 1	/* higher ones cost several times as much for a few percent of a guest's memory */

struct xf_codec_state {
	ZSTD_CCtx *in;
	ZSTD_DCtx *out;
	void *lz4;
};

int xf_codec_open(struct xf_codec_state **out)
{
	struct xf_codec_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->in = ZSTD_createCCtx();
	s->out = ZSTD_createDCtx();
	s->lz4 = malloc((size_t)LZ4_sizeofState());
	if (!s->in || !s->out || !s->lz4) {
		xf_codec_close(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void xf_codec_close(struct xf_codec_state *s)
{
	if (!s)
		return;
	ZSTD_freeCCtx(s->in);
	ZSTD_freeDCtx(s->out);
	free(s->lz4);
	free(s);
}

size_t xf_codec_compress(struct xf_codec_state *s, enum xf_codec codec, void *to, const void *from,
			 size_t len)
{
	size_t made;

	if (len < 2)
		return 0;
	/* One byte less than there was: both give up where it doesn't fit. */
	if (codec == XF_CODEC_ZSTD) {
		made = ZSTD_compressCCtx(s->in, to, len - 1, from, len, ZSTD_LEVEL);
		return ZSTD_isError(made) ? 0 : made;
	}
	if (codec == XF_CODEC_LZ4) {
		int n = LZ4_compress_fast_extState(s->lz4, from, to, (int)len, (int)len - 1, 1);

		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int xf_codec_expand(struct xf_codec_state *s, enum xf_codec codec, void *to, size_t raw_len,
		    const void *from, size_t len)
{
	if (codec == XF_CODEC_ZSTD) {
		size_t n = ZSTD_decompressDCtx(s->out, to, raw_len, from, len);

		return ZSTD_isError(n) || n != raw_len ? -EPROTO : 0;
	}
	if (codec == XF_CODEC_LZ4) {
		int n = LZ4_decompress_safe(from, to, (int)len, (int)raw_len);

		return n < 0 || (size_t)n != raw_len ? -EPROTO : 0;
	}
	if (len != raw_len)
		return -EPROTO;
	memcpy(to, from, len);
	return 0;
}

static const char *const names[XF_CODECS] = { "none", "lz4", "zstd" };

const char *xf_codec_name(enum xf_codec codec)
{
	return codec < XF_CODECS ? names[codec] : "?";
}

int xf_codec_by_name(const char *name)
{
	for (int i = 0; i < XF_CODECS; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -EINVAL;
}
