// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * streamedit OPERATION [ARGUMENT] < IN > OUT: passes a save file, or what an xl
 * sends to its receiver, on with one thing made wrong or old in the libxc
 * stream inside it. Stops at the end of the input; exit status 0 also when the
 * reader went away.
 */
#include <endian.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/wire.h"

static struct edit {
	/* what to do */
	bool v2;			/* as Xen 4.13 and older wrote it */
	bool no_static_end;
	uint64_t marker, options;	/* 0: leave */
	uint32_t version;		/* 0: leave */
	uint32_t insert;		/* a record of this type before the first pages; 0: none */
	uint32_t insert_length;		/* as it claims */
	uint64_t alter_copied;		/* this pfn's contents before the verify pass; ~0: none */
	uint64_t first_pfn;		/* to replace the first pfn by; ~0: leave */
	uint32_t first_count;		/* to replace the first count by; 0: leave */
	uint32_t drop;			/* records of this type; 0: none */
	uint32_t vcpu_id;		/* to replace that of the first vCPU's registers by; 0: leave */
	uint64_t table_pfn;		/* what an entry of the first page table points to; ~0: leave */
	int64_t cut_at;			/* record after which the stream ends; -1: never */
	uint32_t cut_into;		/* so many bytes of the next record's header or body */
	/* where we are */
	bool verify, pages_seen;
	uint32_t record;
} edit = { .alter_copied = ~UINT64_C(0), .first_pfn = ~UINT64_C(0), .table_pfn = ~UINT64_C(0), .cut_at = -1 };

static _Noreturn void die(const char *why)
{
	fprintf(stderr, "streamedit: %s\n", why);
	exit(2);
}

/* Both ways in large pieces. Whoever waits for what we have gets it before we wait for more. */
static char in[1 << 18], out[1 << 18];
static size_t in_at, in_have, out_have;

static void flush(void)
{
	size_t at = 0;

	while (at < out_have) {
		ssize_t n = write(1, out + at, out_have - at);

		if (n <= 0) {
			out_have = 0;
			exit(0);	/* the reader has had enough: that is what is tested */
		}
		at += (size_t)n;
	}
	out_have = 0;
}

static bool get(void *buf, size_t len)
{
	for (size_t got = 0; got < len;) {
		size_t some = in_have - in_at;
		ssize_t n;

		if (some) {
			some = some < len - got ? some : len - got;
			memcpy((char *)buf + got, in + in_at, some);
			in_at += some;
			got += some;
			continue;
		}
		flush();
		n = read(0, in, sizeof(in));
		if (n < 0)
			die("the input can't be read");
		if (n == 0)
			return false;
		in_at = 0;
		in_have = (size_t)n;
	}
	return true;
}

static void need(void *buf, size_t len)
{
	if (!get(buf, len))
		die("the input ends in the middle");
}

static void put(const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		size_t some = sizeof(out) - out_have;

		some = some < len ? some : len;
		memcpy(out + out_have, p, some);
		out_have += some;
		p += some;
		len -= some;
		if (out_have == sizeof(out))
			flush();
	}
}

static void pass(uint64_t len, bool keep)
{
	static char buf[65536];

	while (len) {
		size_t some = len < sizeof(buf) ? (size_t)len : sizeof(buf);

		need(buf, some);
		if (keep)
			put(buf, some);
		len -= some;
	}
}

/* ---- libxc -------------------------------------------------------------- */

static void image_header(void)
{
	struct xf_image_header h;

	need(&h, sizeof(h));
	if (h.marker != XF_IMAGE_MARKER)
		die("this is no libxc stream");
	if (edit.marker)
		h.marker = htobe64(edit.marker);
	if (edit.options)
		h.options = htobe16((uint16_t)edit.options);
	if (edit.v2)
		h.version = htobe32(2);
	if (edit.version)
		h.version = htobe32(edit.version);
	put(&h, sizeof(h));
	pass(sizeof(struct xf_domain_header), true);
}

static void insert(void)
{
	struct xf_record_header h = { edit.insert, edit.insert_length };
	static const char body[64];

	put(&h, sizeof(h));
	if (edit.insert_length <= sizeof(body))
		put(body, edit.insert_length + xf_record_padding(edit.insert_length));
	edit.insert = 0;
}

static void page_data(const struct xf_record_header *h)
{
	struct xf_page_data d;
	uint64_t *words;
	char page[XF_PAGE_SIZE];

	need(&d, sizeof(d));
	words = malloc(d.count * sizeof(*words));
	if (!words)
		die("no memory");
	need(words, d.count * sizeof(*words));
	if (!edit.pages_seen && edit.first_pfn != ~UINT64_C(0))
		words[0] = xf_page_word(edit.first_pfn, xf_word_type(words[0]));
	put(h, sizeof(*h));
	if (!edit.pages_seen && edit.first_count)
		put(&(struct xf_page_data) { .count = edit.first_count }, sizeof(d));
	else
		put(&d, sizeof(d));
	put(words, d.count * sizeof(*words));
	for (uint32_t i = 0; i < d.count; i++) {
		if (!xf_page_type_has_data(xf_word_type(words[i])))
			continue;
		need(page, sizeof(page));
		if (!edit.verify && xf_word_pfn(words[i]) == edit.alter_copied)
			page[100] ^= 1;
		if (edit.table_pfn != ~UINT64_C(0) && xf_word_type(words[i]) != XF_PAGE_NOTAB) {
			uint64_t entry = edit.table_pfn << XF_PAGE_SHIFT | 0x67;

			memcpy(page + 8, &entry, sizeof(entry));
			edit.table_pfn = ~UINT64_C(0);
		}
		put(page, sizeof(page));
	}
	free(words);
	pass(xf_record_padding(h->length), true);
	edit.pages_seen = true;
}

static bool dropped(uint32_t type)
{
	bool end = type == XF_REC_STATIC_DATA_END;

	return (edit.drop && type == edit.drop) || (end && edit.no_static_end) ||
	       (edit.v2 && (end || type == XF_REC_X86_CPUID_POLICY || type == XF_REC_X86_MSR_POLICY));
}

static void libxc_stream(void)
{
	struct xf_record_header h;

	image_header();
	do {
		uint64_t size;

		need(&h, sizeof(h));
		size = (uint64_t)h.length + xf_record_padding(h.length);
		if (edit.cut_at >= 0 && edit.record == (uint64_t)edit.cut_at) {
			put(&h, edit.cut_into < sizeof(h) ? edit.cut_into : sizeof(h));
			if (edit.cut_into > sizeof(h))
				pass(edit.cut_into - sizeof(h), true);
			flush();
			exit(0);
		}
		edit.record++;
		if (h.type == XF_REC_PAGE_DATA && edit.insert)
			insert();
		edit.verify = edit.verify || h.type == XF_REC_VERIFY;
		if (h.type == XF_REC_PAGE_DATA) {
			page_data(&h);
		} else if (dropped(h.type)) {
			pass(size, false);
		} else {
			put(&h, sizeof(h));
			if (h.type == XF_REC_X86_PV_VCPU_BASIC && edit.vcpu_id) {
				pass(sizeof(edit.vcpu_id), false);
				put(&edit.vcpu_id, sizeof(edit.vcpu_id));
				size -= sizeof(edit.vcpu_id);
				edit.vcpu_id = 0;
			}
			pass(size, true);
		}
	} while (h.type != XF_REC_END);
}

/* ---- what is around it -------------------------------------------------- */

static void libxl_stream(void)
{
	struct xf_record_header h;

	pass(sizeof(struct xf_libxl_header), true);
	do {
		need(&h, sizeof(h));
		put(&h, sizeof(h));
		pass((uint64_t)h.length + xf_record_padding(h.length), true);
		if (h.type == XF_LIBXL_LIBXC_CONTEXT)
			libxc_stream();
	} while (h.type != XF_LIBXL_END);
}

static void xl_stream(void)
{
	struct xf_savefile_header h;

	need(&h, sizeof(h));
	if (memcmp(h.magic, XF_SAVEFILE_MAGIC, sizeof(h.magic)))
		die("this is nothing that xl saved or sent");
	put(&h, sizeof(h));
	pass(h.optional_data_len, true);
	libxl_stream();
}

/* What a sender says after the stream. */
static void pass_the_rest(void)
{
	char byte;

	while (get(&byte, 1))
		put(&byte, 1);
}

/* ---- operations --------------------------------------------------------- */

static void choose(const char *op, uint64_t n)
{
	if (!strcmp(op, "none"))
		return;
	else if (!strcmp(op, "v2"))
		edit.v2 = true;
	else if (!strcmp(op, "marker"))
		edit.marker = 0x0123456789abcdef;
	else if (!strcmp(op, "version"))
		edit.version = (uint32_t)n;
	else if (!strcmp(op, "big-endian"))
		edit.options = XF_IMAGE_BIG_ENDIAN;
	else if (!strcmp(op, "no-static-end"))
		edit.no_static_end = true;
	else if (!strcmp(op, "optional"))
		edit.insert = XF_RECORD_OPTIONAL | 0x77, edit.insert_length = 13;
	else if (!strcmp(op, "mandatory"))
		edit.insert = 0x77, edit.insert_length = 13;
	else if (!strcmp(op, "checkpoint"))
		edit.insert = XF_REC_CHECKPOINT;
	else if (!strcmp(op, "oversize"))
		edit.insert = XF_RECORD_OPTIONAL | 0x77, edit.insert_length = XF_RECORD_LENGTH_MAX + 1;
	else if (!strcmp(op, "copied-pfn"))
		edit.alter_copied = n;
	else if (!strcmp(op, "pfn"))
		edit.first_pfn = n;
	else if (!strcmp(op, "count"))
		edit.first_count = (uint32_t)n;
	else if (!strcmp(op, "drop"))
		edit.drop = (uint32_t)n;
	else if (!strcmp(op, "vcpu-id"))
		edit.vcpu_id = (uint32_t)n;
	else if (!strcmp(op, "table-pfn"))
		edit.table_pfn = n;
	else if (!strcmp(op, "cut"))	/* at the boundary before record n */
		edit.cut_at = (int64_t)n;
	else if (!strcmp(op, "cut-into"))	/* in the middle of record n */
		edit.cut_at = (int64_t)n, edit.cut_into = 12;
	else
		die("no such operation");
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
		die("expected OPERATION [ARGUMENT]");
	signal(SIGPIPE, SIG_IGN);
	choose(argv[1], argc > 2 ? strtoull(argv[2], NULL, 0) : 0);
	xl_stream();
	pass_the_rest();
	flush();
	return 0;
}
