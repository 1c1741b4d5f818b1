// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper/stock_helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELPER "libxl-save-helper"

static int read_number(const char *dir, const char *name, int *out)
{
	char path[PATH_MAX];
	FILE *f;
	int got;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	got = fscanf(f, "%d", out);
	fclose(f);
	return got == 1 ? 0 : -EINVAL;
}

/* -ENOENT when this kernel doesn't tell (not under Xen, or sysfs not mounted). */
static int running_version(const char *dir, char *text, size_t size)
{
	int major, minor;

	if (read_number(dir, "major", &major) || read_number(dir, "minor", &minor))
		return -ENOENT;
	snprintf(text, size, "%d.%d", major, minor);
	return 0;
}

static int use_named(struct stock_helper *out, const char *path)
{
	snprintf(out->path, sizeof(out->path), "%s", path);
	if (!access(path, X_OK))
		return 0;
	snprintf(out->why, sizeof(out->why),
		 "XENFERRY_STOCK_HELPER names %s, which can't be run (%s); set it to Xen's " HELPER ".",
		 path, strerror(errno));
	return -ENOENT;
}

static int search(struct stock_helper *out, const char *version)
{
	static const char *const places[] = {
		"/usr/lib/xen-%s/bin/" HELPER,		/* Debian */
		"/usr/lib/xen/bin/" HELPER,
		"/usr/libexec/xen/bin/" HELPER,
		"/usr/local/lib/xen/bin/" HELPER,
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *slot = strstr(places[i], "%s");

		if (slot)
			snprintf(out->path, sizeof(out->path), "%.*s%s%s",
				 (int)(slot - places[i]), places[i], version, slot + 2);
		else
			snprintf(out->path, sizeof(out->path), "%s", places[i]);
		if (!access(out->path, X_OK))
			return 0;
	}
	snprintf(out->why, sizeof(out->why),
		 "no " HELPER " of Xen %s found (looked in /usr/lib/xen-%s/bin and the like); install xen-utils-%s or set XENFERRY_STOCK_HELPER.",
		 version, version, version);
	return -ENOENT;
}

int stock_helper_find(const char *version_dir, struct stock_helper *out)
{
	const char *named = getenv("XENFERRY_STOCK_HELPER");
	char version[32];
	int known = !running_version(version_dir, version, sizeof(version));

	memset(out, 0, sizeof(*out));
	/* Without a version to compare the named helper is taken at its word. */
	out->same_version = known ? !strcmp(version, XENFERRY_XEN_VERSION) : 1;
	if (!out->same_version)
		snprintf(out->why, sizeof(out->why),
			 "Xen %s is running but xenferry was built for Xen %s; Xen's own engine is used instead.",
			 version, XENFERRY_XEN_VERSION);
	if (named && *named)
		return use_named(out, named);
	if (known)
		return search(out, version);
	snprintf(out->why, sizeof(out->why),
		 "%s can't be read, so this seems not to be a Xen Dom0; run it in Dom0 or set XENFERRY_STOCK_HELPER.",
		 version_dir);
	return -ENOENT;
}
