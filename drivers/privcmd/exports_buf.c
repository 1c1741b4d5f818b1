// SPDX-License-Identifier: GPL-2.0-only
/* As exports.c, for the other symbol. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "privcmd.h"

EXPORT_SYMBOL_GPL(xen_privcmdbuf_fops);
