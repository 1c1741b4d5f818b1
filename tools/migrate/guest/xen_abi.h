/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a PV guest and Xen share: start_info_t, shared_info_t, vcpu_guest_context_t. Taken from
 * Xen's public header as the toolstack sees it, so that xenctrl.h may come before or after.
 */
#ifndef XENFERRY_XEN_ABI_H
#define XENFERRY_XEN_ABI_H

#include <stdint.h>

#ifndef __XEN_TOOLS__
#define __XEN_TOOLS__ 1
#endif
#include <xen/xen.h>

#endif
