/* SPDX-License-Identifier: GPL-2.0-only */
/* xenferry_compat.h for exports.c, which may define nothing: what later kernels' exporting file includes besides. */
#ifndef XENFERRY_PRIVCMD_COMPAT_EXPORTS_H
#define XENFERRY_PRIVCMD_COMPAT_EXPORTS_H

#include <xen/privcmd.h>

#ifdef IOCTL_PRIVCMD_IRQFD
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/srcu.h>
#include <linux/virtio_mmio.h>
#include <linux/workqueue.h>
#include <xen/events.h>
#include <xen/interface/hvm/ioreq.h>
#endif
#ifdef IOCTL_PRIVCMD_PCIDEV_GET_GSI
#include <xen/acpi.h>
#endif

#endif
