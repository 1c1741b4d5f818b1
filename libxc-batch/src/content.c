/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "page_hash.h"

/* Hashes come in pieces of 64 KiB, so that holes of the p2m cost a pointer for each 16 MiB. */
#define CHUNK 4096u

/* 256 TiB of guest, as for the other trackers. */
#define FRAMES_MAX (UINT64_C(1) << 36)

struct xcbatch_content {
	uint64_t frames;
	page_hash_fn hash;
	uint8_t secret[PAGE_HASH_SECRET];
	struct page_hash *chunks[];	/* NULL: nothing noted there; all zeroes: not noted */
};

int xcbatch_content_create(uint64_t frames, struct xcbatch_content **out)
{
	struct xcbatch_content *c;
	size_t chunks;

	if (!out || frames == 0 || frames > FRAMES_MAX)
		return -EINVAL;
	chunks = (size_t)((frames + CHUNK - 1) / CHUNK);
	c = calloc(1, sizeof(*c) + chunks * sizeof(c->chunks[0]));
	if (!c)
		return -ENOMEM;
	c->frames = frames;
	c->hash = page_hash_best();
	if (getrandom(c->secret, sizeof(c->secret), 0) != (ssize_t)sizeof(c->secret)) {
		free(c);
		return -EIO;
	}
	*out = c;
	return 0;
}

/* The tag in it: alike pages of different tags differ for certain, others as likely as without. */
static struct page_hash tagged(const struct xcbatch_content *c, uint8_t tag, const void *page)
{
	struct page_hash h = c->hash(page, c->secret);

	h.high ^= tag;
	if (!h.low && !h.high)
		h.low = 1;	/* zeroes mean: not noted */
	return h;
}

int xcbatch_content_note(struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page)
{
	struct page_hash **chunk;

	if (!c || !page || frame >= c->frames)
		return -EINVAL;
	chunk = &c->chunks[frame / CHUNK];
	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(**chunk));
	if (!*chunk)
		return -ENOMEM;
	(*chunk)[frame % CHUNK] = tagged(c, tag, page);
	return 0;
}

int xcbatch_content_would_differ(const struct xcbatch_content *c, uint64_t frame, uint8_t tag, const void *page)
{
	const struct page_hash *noted;
	struct page_hash now;

	if (frame >= c->frames || !c->chunks[frame / CHUNK])
		return 1;
	noted = &c->chunks[frame / CHUNK][frame % CHUNK];
	if (!noted->low && !noted->high)
		return 1;
	now = tagged(c, tag, page);
	return now.low != noted->low || now.high != noted->high;
}

void xcbatch_content_forget(struct xcbatch_content *c, uint64_t frame)
{
	if (frame < c->frames && c->chunks[frame / CHUNK])
		c->chunks[frame / CHUNK][frame % CHUNK] = (struct page_hash) { 0, 0 };
}

void xcbatch_content_destroy(struct xcbatch_content *c)
{
	if (!c)
		return;
	for (uint64_t i = 0; i < (c->frames + CHUNK - 1) / CHUNK; i++)
		free(c->chunks[i]);
	free(c);
}
