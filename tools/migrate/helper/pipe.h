/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pipe of 64 KiB is full before the other side has begun to look: then both only wake each other. */
#ifndef XENFERRY_PIPE_H
#define XENFERRY_PIPE_H

#include <fcntl.h>

#define PIPE_BYTES (1 << 20)

/* Either end does it for both; anything but a pipe says no, and stays as it is. */
static inline void pipe_enlarge(int fd)
{
	int now = fcntl(fd, F_GETPIPE_SZ);

	if (now > 0 && now < PIPE_BYTES)
		fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
}

#endif
