/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the seed corpora into the directory named: reader/, inspect/ and transport/, a file each. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "streamgen.h"
#include "transport/net/codec.h"
#include "transport/net/hello.h"

static void put(const char *dir, const char *part, const char *name, int how, const struct gen *g)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, part);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, part, name);
	f = fopen(path, "w");
	if (!f || (how >= 0 && fputc(how, f) == EOF) || fwrite(g->data, 1, g->size, f) != g->size ||
	    fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* For both, with one way of reading each. */
static void both(const char *dir, const char *name, int how, struct gen *g)
{
	put(dir, "reader", name, how, g);
	put(dir, "inspect", name, -1, g);
	gen_free(g);
}

/* No contents, so that it is small and mutations hit the structure. */
static void lean(struct gen *g)
{
	const uint64_t words[] = { htole64(xf_page_word(1, XF_PAGE_XALLOC)),
				   htole64(xf_page_word(2, XF_PAGE_XTAB)) };

	gen_hvm_before_pages(g, 3);
	gen_pages(g, words, 2);
	gen_record(g, XF_RECORD_OPTIONAL | 5, "abc", 3);
	gen_record(g, XF_REC_VERIFY, NULL, 0);
	gen_pages(g, words, 1);
	gen_hvm_after_pages(g);
}

/* ---- what the transport reads: the first byte says what it is ---- */

static void put_hello(const char *dir)
{
	uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS];
	struct xf_preamble p = { .lane = 1 };
	struct xf_hello h = { .version_min = 1, .version_max = 1, .lanes = 2, .codecs = 7, .time_out_ms = 30000,
			      .software = "0.1.0" };
	struct gen g = { 0 };

	xf_preamble_encode(&p, bytes);
	gen_bytes(&g, bytes, XF_PREAMBLE);
	put(dir, "transport", "preamble", 0, &g);
	gen_free(&g);
	xf_hello_add_word(&h, "xl");
	xf_hello_add_word(&h, "migrate-receive");
	gen_bytes(&g, bytes, xf_hello_encode(&h, bytes));
	put(dir, "transport", "hello", 1, &g);
	gen_free(&g);
}

static void put_frames(const char *dir)
{
	static uint8_t zeroes[4096], packed[4096], head[XF_FRAME_HEAD];
	struct xf_codec_state *codec;
	struct gen g = { 0 };

	if (xf_codec_open(&codec))
		exit(1);
	for (int c = 0; c < XF_CODECS; c++) {
		size_t made = xf_codec_compress(codec, (enum xf_codec)c, packed, zeroes, sizeof(zeroes));
		struct xf_frame f = { .type = XF_FRAME_DATA, .codec = (uint8_t)c, .raw_len = c ? 4096 : 5,
				      .wire_len = made ? (uint32_t)made : 5, .seq = (uint64_t)c };

		xf_frame_encode(&f, head);
		gen_bytes(&g, head, sizeof(head));
		gen_bytes(&g, packed, f.wire_len);
	}
	for (uint8_t type = XF_FRAME_EOF; type <= XF_FRAME_BYE; type++) {
		struct xf_frame f = { .type = type, .seq = type <= XF_FRAME_EXIT ? type + 1u : 0 };

		xf_frame_encode(&f, head);
		gen_bytes(&g, head, sizeof(head));
	}
	put(dir, "transport", "frames", 2, &g);
	gen_free(&g);
	xf_codec_close(codec);
}

int main(int argc, char **argv)
{
	struct gen g = { 0 };

	if (argc != 2)
		return 2;
	put_hello(argv[1]);
	put_frames(argv[1]);
	gen_hvm(&g, 2, 1);
	both(argv[1], "hvm2", 0, &g);
	gen_hvm(&g, 3, 2);
	both(argv[1], "hvm3", 0x40, &g);
	gen_pv(&g, 2);
	both(argv[1], "pv2", 2, &g);
	gen_pv(&g, 3);
	both(argv[1], "pv3", 4, &g);
	lean(&g);
	both(argv[1], "lean", 8, &g);
	gen_hvm_before_pages(&g, 3);
	gen_record(&g, XF_REC_CHECKPOINT, NULL, 0);
	gen_hvm_after_pages(&g);
	put(argv[1], "reader", "checkpoint", 1, &g);
	gen_free(&g);
	gen_xl(&g, 3, 1);
	put(argv[1], "inspect", "xl", -1, &g);
	gen_free(&g);
	gen_libxl_header(&g, XF_LIBXL_IDENT, XF_LIBXL_VERSION, 2);
	gen_record(&g, XF_LIBXL_LIBXC_CONTEXT, NULL, 0);
	lean(&g);
	gen_record(&g, XF_RECORD_OPTIONAL, "x", 1);
	gen_record(&g, XF_LIBXL_END, NULL, 0);
	put(argv[1], "inspect", "libxl", -1, &g);
	gen_free(&g);
	return 0;
}
