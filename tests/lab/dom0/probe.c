// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lab-probe free              pages Xen has free, those it has still to scrub included
 * lab-probe logdirty DOMID    prints on, off, or none where Xen has no log-dirty for such a guest
 * lab-probe logdirty-enable DOMID
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xenctrl.h>

static int print_free(xc_interface *xch)
{
	xc_physinfo_t info = { 0 };

	if (xc_physinfo(xch, &info) < 0)
		return 1;
	printf("%llu\n", (unsigned long long)(info.free_pages + info.scrub_pages));
	return 0;
}

/* Xen has no question for it; switching it on says EINVAL where it is on already. */
static int print_logdirty(xc_interface *xch, uint32_t domid)
{
	if (xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY, NULL, 0) == 0) {
		xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_OFF, NULL, 0);
		puts("off");
		return 0;
	}
	if (errno != EINVAL && errno != EOPNOTSUPP)
		return 1;
	puts(errno == EINVAL ? "on" : "none");
	return 0;
}

int main(int argc, char **argv)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);
	int bad = 1;

	if (!xch)
		return 1;
	if (argc == 2 && strcmp(argv[1], "free") == 0)
		bad = print_free(xch);
	else if (argc == 3 && strcmp(argv[1], "logdirty") == 0)
		bad = print_logdirty(xch, (uint32_t)atoi(argv[2]));
	else if (argc == 3 && strcmp(argv[1], "logdirty-enable") == 0)
		bad = xc_shadow_control(xch, (uint32_t)atoi(argv[2]), XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY, NULL, 0) < 0;
	else
		fprintf(stderr, "usage: lab-probe free | logdirty DOMID | logdirty-enable DOMID\n");
	if (bad)
		perror("lab-probe");
	xc_interface_close(xch);
	return bad;
}
