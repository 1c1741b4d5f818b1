/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "paging.h"

#include <errno.h>

/* The pager needs a disk read a frame: begin eagerly, then stop being a nuisance. */
#define PAUSE_FIRST_US 100
#define PAUSE_MOST_US  10000

static size_t run_begin(const int *errs, size_t n, size_t from)
{
	while (from < n && errs[from] != -ENOENT)
		from++;
	return from;
}

static size_t run_end(const int *errs, size_t n, size_t from)
{
	while (from < n && errs[from] == -ENOENT)
		from++;
	return from;
}

/* One more try for each run of paged-out frames. */
static int try_again(const struct os_privcmd *os, uint32_t domid, char *addr,
		     const uint64_t *gfns, size_t n, int *errs)
{
	size_t begin = run_begin(errs, n, 0);

	while (begin < n) {
		size_t end = run_end(errs, n, begin);
		int rc = os_privcmd_map(os, domid, addr + (begin << XCBATCH_PAGE_SHIFT),
					gfns + begin, end - begin, errs + begin);

		if (rc < 0)
			return rc;
		begin = run_begin(errs, n, end);
	}
	return 0;
}

int paging_map(const struct os_privcmd *os, uint32_t domid, void *addr,
	       const uint64_t *gfns, size_t n, int *errs)
{
	unsigned pause = PAUSE_FIRST_US;
	int rc = os_privcmd_map(os, domid, addr, gfns, n, errs);
	int tries;

	for (tries = 1; rc == 0 && tries < XCBATCH_PAGING_TRIES; tries++) {
		if (run_begin(errs, n, 0) == n)
			break;
		os_privcmd_pause(pause);
		pause = pause * 2 < PAUSE_MOST_US ? pause * 2 : PAUSE_MOST_US;
		rc = try_again(os, domid, addr, gfns, n, errs);
	}
	return rc;
}
