/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hypervisor's log-dirty, through libxenctrl; nothing else includes xenctrl.h. */
#ifndef OS_XENCTRL_H
#define OS_XENCTRL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os_xenctrl;

/* words: of the bitmap that os_xenctrl_clean fills; 0 if it won't be called. */
int  os_xenctrl_open(size_t words, struct os_xenctrl **out);
void os_xenctrl_close(struct os_xenctrl *os);

int  os_xenctrl_enable(struct os_xenctrl *os, uint32_t domid);
int  os_xenctrl_off(struct os_xenctrl *os, uint32_t domid);
/* What was written since the last clean; *map stays the library's. */
int  os_xenctrl_clean(struct os_xenctrl *os, uint32_t domid, uint64_t frames,
		      bool last, const uint64_t **map);
int  os_xenctrl_peek(struct os_xenctrl *os, uint32_t domid, uint64_t *dirty);

/* The running Xen's version, major << 16 | minor, and the interface expected of it. */
int  os_xenctrl_version(unsigned *version);
unsigned os_xenctrl_interface(void);

#endif
