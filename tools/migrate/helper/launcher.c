// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * xenferry-save-helper: what libxl starts through LIBXL_SAVE_HELPER.
 *
 * Puts libxenferry-guest.so ahead of libxenguest and becomes the stock helper
 * of the running Xen, so that its calls of xc_domain_save and
 * xc_domain_restore arrive in ours.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/stock_helper.h"

#define GUEST_LIBRARY "libxenferry-guest.so"

/* Same exit status as a shell's for a command that can't be started. */
#define EXIT_CANT_START 127

/* The library lies beside this program, in the build tree as when installed. */
static int guest_library_path(char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	int len;

	if (n < 0)
		return -errno;
	self[n] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	*slash = 0;
	len = snprintf(path, size, "%s/" GUEST_LIBRARY, self);
	if (len < 0 || (size_t)len >= size)
		return -ENAMETOOLONG;
	return access(path, R_OK) ? -errno : 0;
}

static int preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *value;
	int rc;

	if (!others || !*others)
		return setenv("LD_PRELOAD", library, 1) ? -errno : 0;
	if (asprintf(&value, "%s:%s", library, others) < 0)
		return -ENOMEM;
	rc = setenv("LD_PRELOAD", value, 1) ? -errno : 0;
	free(value);
	return rc;
}

static int usage(FILE *to, int status)
{
	fputs("Usage: LIBXL_SAVE_HELPER=/usr/lib/xenferry/xenferry-save-helper xl migrate|save|restore ...\n"
	      "\n"
	      "xl starts this program itself; it runs Xen's own libxl-save-helper with xenferry's\n"
	      "engine loaded. See xenferry(1).\n"
	      "\n"
	      "  XENFERRY_STOCK_HELPER=FILE  Xen's helper, where it can't be found by itself\n"
	      "  XENFERRY_ENGINE=stock       use Xen's own engine, with xenferry's statistics\n"
	      "  XENFERRY_STATS=FILE         append statistics, one JSON object a line\n", to);
	return status;
}

int main(int argc, char **argv)
{
	struct stock_helper stock;
	char library[PATH_MAX];
	int rc;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(stdout, 0);
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("xenferry-save-helper " XENFERRY_VERSION);
		return 0;
	}
	if (argc < 2)
		return usage(stderr, 2);

	rc = stock_helper_find(XEN_VERSION_DIR, &stock);
	if (rc) {
		fprintf(stderr, "xenferry-save-helper: %s\n", stock.why);
		return EXIT_CANT_START;
	}

	if (!stock.same_version) {
		fprintf(stderr, "xenferry-save-helper: %s\n", stock.why);
	} else {
		rc = guest_library_path(library, sizeof(library));
		if (!rc)
			rc = preload(library);
		if (rc) {
			fprintf(stderr, "xenferry-save-helper: " GUEST_LIBRARY
				" is expected beside this program but can't be used (%s); install xenferry again.\n",
				strerror(-rc));
			return EXIT_CANT_START;
		}
	}

	execv(stock.path, argv);
	fprintf(stderr, "xenferry-save-helper: starting %s failed (%s); set XENFERRY_STOCK_HELPER to Xen's libxl-save-helper.\n",
		stock.path, strerror(errno));
	return EXIT_CANT_START;
}
