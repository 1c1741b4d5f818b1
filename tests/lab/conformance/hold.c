// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-hold: holds on to something until it is killed. `open` holds a
 * descriptor; `map DOMID FRAMES` holds frames of a domain, mapped from frame
 * 0x1000 on, with the descriptor closed. Says "holding" once it does.
 */
#include "conform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

static int map_frames(int fd, domid_t domid, unsigned int num)
{
	struct privcmd_mmapbatch_v2 cmd = { .num = num, .dom = domid };
	uint64_t *frames = calloc(num, sizeof(*frames));
	int *errors = calloc(num, sizeof(*errors));
	void *p = mmap(NULL, num * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	unsigned int i;

	if (!frames || !errors || p == MAP_FAILED)
		return -1;
	for (i = 0; i < num; i++)
		frames[i] = 0x1000 + i;
	cmd.addr = (unsigned long)p;
	cmd.arr = (const xen_pfn_t *)frames;
	cmd.err = errors;
	return ioctl(fd, IOCTL_PRIVCMD_MMAPBATCH_V2, &cmd);
}

int main(int argc, char **argv)
{
	int fd = open("/dev/xen/privcmd", O_RDWR);

	if (fd < 0 || argc < 2 ||
	    (argc == 4 && map_frames(fd, atoi(argv[2]), atoi(argv[3])))) {
		fprintf(stderr, "privcmd-hold: %s; usage: privcmd-hold open | map DOMID FRAMES\n",
			strerror(errno));
		return 1;
	}
	if (argc == 4)
		close(fd);
	puts("holding");
	fflush(stdout);
	for (;;)
		pause();
}
