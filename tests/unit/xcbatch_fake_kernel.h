/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel of 256 pages of address space with xen-privcmd, stock or ours, in
 * it: stands in for open, close, ioctl, mmap, munmap, nanosleep, getpid, calloc
 * and malloc (linked with --wrap). A mapped page holds its frame number in its
 * first 8 bytes; a page that holds nothing faults.
 */
#ifndef XCBATCH_FAKE_KERNEL_H
#define XCBATCH_FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_PAGES 256
#define FAKE_DOMID 7
/* Frame numbers at or above this can't be mapped: -EINVAL. */
#define FAKE_BAD_GFN 0x100000

struct fake_call {
	unsigned long request;
	uint64_t addr;
	size_t n;
};

struct fake_kernel {
	/* what it is */
	bool ours;
	unsigned abi, features, max_frames;
	/* what it is told to do: fail the n-th call from now (1 = the next), 0 = never */
	int fail_open, fail_ioctl, fail_mmap, fail_alloc;
	int errno_of_failure;
	bool mmap_leaves_hole;	/* what a failing MAP_FIXED leaves behind */
	bool hole_is_taken;	/* by somebody else, before the library can look */
	uint64_t paged_gfn;	/* -ENOENT, paged_tries times */
	int paged_tries;
	int pid;
	/* what it saw */
	int open_files, pauses;
	long pause_ns_least;
	int cuts;		/* asked to cut a mapping of the device */
	int bad_calls;		/* reserved fields or flags not 0, address not in a mapping */
	int calls;
	struct fake_call call[1024];
};

extern struct fake_kernel fake;

/* A kernel without processes, files and mappings. */
void fake_reset(bool ours);
/* Which frame the page at addr holds; 0: none, but nothing else either; -1: a hole; -2: somebody else's. */
int64_t fake_holds(const void *addr);
/* Pages of address space in use. */
size_t fake_pages_in_use(void);

#endif
