/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames of a list can be had as one piece of 2 MiB. */
#ifndef XENFERRY_EXTENTS_H
#define XENFERRY_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTENT_ORDER 9
#define EXTENT_FRAMES (1u << EXTENT_ORDER)

/*
 * The stretch at the head of the list that is all of one kind: *large says
 * which, the return how many frames it has (0 for an empty list). A large one
 * is a whole number of aligned stretches of EXTENT_FRAMES frames that follow
 * each other.
 */
size_t extents_next(const uint64_t *gfns, size_t n, bool *large);

#endif
