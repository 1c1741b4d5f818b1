/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Xen's own libxl-save-helper: where it is, and whether our library fits it. */
#ifndef XENFERRY_STOCK_HELPER_H
#define XENFERRY_STOCK_HELPER_H

#include <limits.h>

struct stock_helper {
	char path[PATH_MAX];
	int same_version;		/* the running Xen is the one we were built for */
	char why[PATH_MAX + 256];	/* a sentence, when not found or not the same version */
};

/* Where the kernel tells the running hypervisor's version. */
#define XEN_VERSION_DIR "/sys/hypervisor/version"

/*
 * XENFERRY_STOCK_HELPER decides if it is set, else the running Xen's version.
 * -ENOENT: none found, `why` says what was looked for.
 */
int stock_helper_find(const char *version_dir, struct stock_helper *out);

#endif
