/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Self-describing pages. What a page must hold follows from a seed, its number and its generation (how often it was
 * rewritten), so that a page that got lost, is stale, is another page's or was altered in one bit is told apart from
 * a good one. Generation 0 is the page nobody has written: all zero.
 */
#ifndef WORKLOAD_PAGE_H
#define WORKLOAD_PAGE_H

#include <stdint.h>

#define PAGE_BYTES 4096
#define PAGE_WORDS (PAGE_BYTES / 8)

enum page_state {
	PAGE_GOOD,
	PAGE_LOST,	/* zero, but was written before */
	PAGE_STALE,	/* this page as it was at another generation */
	PAGE_SWAPPED,	/* another page's content */
	PAGE_ALTERED,	/* anything else */
};

/* Mixes 64 bits so that each bit of the result depends on each bit given. */
uint64_t page_mix(uint64_t x);

void page_fill(uint64_t *page, uint64_t seed, uint32_t number, uint32_t generation);
enum page_state page_check(const uint64_t *page, uint64_t seed, uint32_t number, uint32_t generation);
const char *page_state_name(enum page_state state);

#endif
