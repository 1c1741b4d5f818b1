/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A domain of the running Xen as a guest: libxenctrl and libxcbatch. */
#ifndef XENFERRY_GUEST_XEN_H
#define XENFERRY_GUEST_XEN_H

#include <xenctrl.h>

#include "guest/guest.h"

enum guest_access { GUEST_READ, GUEST_WRITE };

/* The handle stays the caller's. -ENOENT, -EACCES: /dev/xen/privcmd can't be used. */
int guest_xen_open(xc_interface *xch, uint32_t domid, enum guest_access access,
		   struct guest **out);

#endif
