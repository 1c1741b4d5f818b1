/* SPDX-License-Identifier: GPL-2.0-only */
/* Eventfds for a guest's interrupts (irqfd.c) and notifications (ioeventfd.c). */
#ifndef XENFERRY_PRIVCMD_EVENTFD_H
#define XENFERRY_PRIVCMD_EVENTFD_H

#include <linux/kconfig.h>

#include <xen/privcmd.h>

struct area;

/*
 * A kernel that knows the calls may have been configured without them; its own
 * module then refuses them whatever the arguments, and so does this one. The
 * test build has them all the same.
 */
#if defined(IOCTL_PRIVCMD_IRQFD) && \
	(IS_ENABLED(CONFIG_XEN_PRIVCMD_EVENTFD) || defined(XENFERRY_INJECT))
#define HAVE_EVENTFD_CALLS
#endif

#ifdef HAVE_EVENTFD_CALLS
int irqfd_start(void);
void irqfd_stop(void);
void ioeventfd_stop(void);
void ioeventfd_area_goes(struct area *area);
#else
static inline int irqfd_start(void) { return 0; }
static inline void irqfd_stop(void) { }
static inline void ioeventfd_stop(void) { }
static inline void ioeventfd_area_goes(struct area *area) { }
#endif

#endif
