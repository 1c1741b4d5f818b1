/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A domain of the running Xen that can only be watched: info, held and the dirty_ ops. */
#ifndef XENFERRY_WATCH_XEN_H
#define XENFERRY_WATCH_XEN_H

#include "guest/guest.h"

struct xentoollog_logger;

/*
 * logger: of libxenctrl's own words. lock: the file of guest/guard.h. Its dirty_start says -EALREADY where a migration of ours is
 * under way, and -EBUSY where log-dirty is on by somebody else, who keeps it. Switching off
 * leaves it on for whoever took it over meanwhile, and says -ESTALE.
 */
int watch_xen_open(struct xentoollog_logger *logger, uint32_t domid, const char *lock, struct guest **out);

#endif
