/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that deal with the pages of a restore only. */
#ifndef XENFERRY_RESTORE_PAGES_H
#define XENFERRY_RESTORE_PAGES_H

#include "engine/restore_internal.h"

struct restore_pages {
	uint64_t limit;		/* pfns are below */
	uint64_t *populated;	/* bitmap: memory is behind it */
	uint64_t *claimed;	/* bitmap: the stream has it as memory; the rest is given back at the end */
	uint64_t have;		/* how many are populated */
	bool careful;		/* no memory but what is asked for: it got short */
	uint64_t count;		/* contents put in place */
	uint64_t cleared;	/* pages without contents that were not zero */
	char *compare;		/* some pages in a verify pass, else NULL */
	size_t zeroes;		/* pages of `want` to be made zero */
	uint64_t want[GUEST_BATCH];
	int errs[GUEST_BATCH];
};

/*
 * Puts memory behind those of a record's pages that need it, and notes what
 * the stream says of each. Leaves in want[0 .. zeroes) the ones that come
 * without contents and were not there before.
 */
int restore_populate(struct restore *r, const uint64_t *words, size_t n);

#endif
