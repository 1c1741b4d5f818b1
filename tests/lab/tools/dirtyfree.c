// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dirtyfree DOMID MIB: writes into MIB MiB of a paused guest's memory, from 4 MiB on, and takes it away from the living
 * guest. Xen scrubs what a dead domain leaves behind, and not what a living one gives back: so Xen's free memory
 * is dirty afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xenctrl.h>
#include <xenforeignmemory.h>

#define BATCH 1024

static int dirty(xc_interface *xch, xenforeignmemory_handle *fmem, uint32_t domid, xen_pfn_t first)
{
	xen_pfn_t frames[BATCH];
	int errs[BATCH];
	char *at;

	for (unsigned i = 0; i < BATCH; i++)
		frames[i] = first + i;
	at = xenforeignmemory_map(fmem, domid, PROT_READ | PROT_WRITE, BATCH, frames, errs);
	if (!at)
		return -1;
	memset(at, 0xa5, BATCH * XC_PAGE_SIZE);
	xenforeignmemory_unmap(fmem, at, BATCH);
	return xc_domain_decrease_reservation_exact(xch, domid, BATCH, 0, frames);
}

int main(int argc, char **argv)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);
	xenforeignmemory_handle *fmem = xenforeignmemory_open(NULL, 0);
	uint32_t domid;
	xen_pfn_t frames;
	xc_dominfo_t dom;

	if (argc != 3 || !xch || !fmem) {
		fprintf(stderr, "usage: dirtyfree DOMID MIB\n");
		return 2;
	}
	domid = (uint32_t)atoi(argv[1]);
	frames = (xen_pfn_t)atol(argv[2]) * 256;
	if (xc_domain_getinfo(xch, domid, 1, &dom) != 1 || dom.domid != domid || dom.nr_pages < frames + BATCH) {
		fprintf(stderr, "dirtyfree: domain %u has less memory than that\n", domid);
		return 1;
	}
	/* The lowest MiB holds the kernel and may have holes. */
	for (xen_pfn_t at = BATCH; at + BATCH <= frames + BATCH; at += BATCH) {
		if (dirty(xch, fmem, domid, at)) {
			perror("dirtyfree");
			return 1;
		}
	}
	return 0;
}
