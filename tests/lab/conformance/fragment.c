// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-fragment DOMID FRAMES: takes nearly all memory, gives every second
 * page of it back, so that hardly two free ones lie side by side, and maps that
 * many frames of a paused guest by one call. That may succeed, or fail with
 * ENOMEM; the kernel's log says what else went wrong. Ends with the area given
 * back.
 */
#include "conform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* What stays free before every second page is given back. */
#define SPARE_KB (48 * 1024UL)

static unsigned long num;

static unsigned long available_kb(void)
{
	unsigned long kb = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	need(f, "open /proc/meminfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

/* Free blocks of 2 MiB and more, of all zones. */
static unsigned long large_blocks(void)
{
	unsigned long sum = 0;
	char line[256];
	FILE *f = fopen("/proc/buddyinfo", "r");

	need(f, "open /proc/buddyinfo");
	while (fgets(line, sizeof(line), f)) {
		unsigned long order[11] = { 0 };

		sscanf(line, "Node %*d, zone %*s %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu %lu",
		       &order[0], &order[1], &order[2], &order[3], &order[4], &order[5],
		       &order[6], &order[7], &order[8], &order[9], &order[10]);
		sum += order[9] + order[10];
	}
	fclose(f);
	return sum;
}

static void scatter_free_memory(void)
{
	unsigned long i, pages = (available_kb() - SPARE_KB) / 4;
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "reserve memory");
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	need(!mlock(p, pages * PAGE), "lock memory");
	for (i = 1; i < pages; i += 2)
		need(!madvise(p + i * PAGE, PAGE, MADV_DONTNEED_LOCKED), "give a page back");
}

static void map_in_fragments(void)
{
	uint64_t *frames = calloc(num, sizeof(*frames));
	int *errors = calloc(num, sizeof(*errors));
	int fd = privcmd_open(), rc;
	unsigned long i, bad = 0;
	char *p;

	need(frames && errors, "have memory");
	for (i = 0; i < num; i++)
		frames[i] = stamped[i % STAMPED];
	scatter_free_memory();
	printf("figure large_blocks_free %lu\n", large_blocks());
	p = area(fd, num, PROT_READ);
	rc = tell("map", batch(fd, p, num, guest, frames, errors));
	check(!rc || errno == ENOMEM, "neither success nor ENOMEM");
	for (i = 0; !rc && i < num; i++)
		bad += errors[i] ? errors[i] != -ENOMEM : !pages_show(p + i * PAGE, &frames[i], 1);
	check(!bad, "%lu pages are wrong", bad);
	check(!munmap(p, num * PAGE), "munmap says %s", strerrorname_np(errno));
	close(fd);
}

static const struct test_case cases[] = {
	CASE("fragment", map_in_fragments),
	END_OF_CASES
};

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s DOMID FRAMES\n", argv[0]);
		return 2;
	}
	num = strtoul(argv[2], NULL, 0);
	return run_cases(2, argv, cases);
}
