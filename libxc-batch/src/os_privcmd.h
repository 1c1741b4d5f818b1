/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operating system's side of a handle: /dev/xen/privcmd, stock or ours.
 * Nothing else in the library makes an ioctl or maps memory.
 */
#ifndef OS_PRIVCMD_H
#define OS_PRIVCMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xcbatch.h"

struct os_privcmd {
	int fd;
	bool batched;		/* IOCTL_XENFERRY_MAP and _CLEAR can be used */
	unsigned features;
	uint32_t max_frames;	/* of one MAP or CLEAR */
	char version[32];
};

int  os_privcmd_open(struct os_privcmd *os);
void os_privcmd_close(struct os_privcmd *os);
int  os_privcmd_counters(const struct os_privcmd *os, struct xcbatch_counters *out);

/* Address space that holds nothing: any access faults. */
int  os_privcmd_reserve(size_t pages, void **out);
/* The same over [addr, addr + pages), whatever was there. */
int  os_privcmd_reserve_at(void *addr, size_t pages);
/* The same, only if nothing is there: -EEXIST. */
int  os_privcmd_reserve_hole(void *addr, size_t pages);
void os_privcmd_release(void *addr, size_t pages);

/* A mapping of the device, holding no frame yet. */
int  os_privcmd_device(const struct os_privcmd *os, size_t pages, int prot, void **out);
/* The same at addr over whatever was there; after a failure there may be a hole. */
int  os_privcmd_device_at(const struct os_privcmd *os, void *addr, size_t pages, int prot);

/*
 * Maps n frames at addr. errs[i] is 0 or a negative errno after a return of 0;
 * anything else returned means that the call itself failed.
 * With the stock driver: the first call must cover its mapping of the device
 * exactly, later ones only slots that hold nothing.
 */
int  os_privcmd_map(const struct os_privcmd *os, uint32_t domid, void *addr,
		    const uint64_t *gfns, size_t n, int *errs);
/* Ours only. */
int  os_privcmd_clear(const struct os_privcmd *os, void *addr, size_t n);

void os_privcmd_pause(unsigned microseconds);

#endif
