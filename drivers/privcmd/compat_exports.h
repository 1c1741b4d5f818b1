/* SPDX-License-Identifier: GPL-2.0-only */
/* compat.h for exports.c, which may define nothing: what later kernels' exporting file includes besides. */
#ifndef XENFERRY_PRIVCMD_COMPAT_EXPORTS_H
#define XENFERRY_PRIVCMD_COMPAT_EXPORTS_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/srcu.h>
#include <linux/virtio_mmio.h>
#include <linux/workqueue.h>
#include <xen/acpi.h>
#include <xen/events.h>
#include <xen/interface/hvm/ioreq.h>
#endif

#endif
