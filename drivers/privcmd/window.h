/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_PRIVCMD_WINDOW_H
#define XENFERRY_PRIVCMD_WINDOW_H

/* Most frames a call takes: 256 MiB, which bounds how long mmap_lock is held. */
#define WINDOW_MAX_FRAMES 65536

#endif
