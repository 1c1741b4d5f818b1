// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-restricted: what an unprivileged domain may do with xen-privcmd.
 * Runs in a guest; prints one line a call. The argument names the domain that
 * xenstore gives as the target, if any.
 */
#include "conform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

#include <xen/version.h>
#include <xen/xenferry_privcmd.h>

static const char *label;

static void result(const char *what, long rc)
{
	printf("%s %s = %s\n", label, what, rc < 0 ? strerrorname_np(errno) : "allowed");
}

static void try_map(int fd, const char *what, domid_t domid)
{
	uint64_t frame = 0x100;
	int error = 0;
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	struct privcmd_mmapbatch_v2 cmd = {
		.num = 1, .dom = domid, .addr = (unsigned long)p,
		.arr = (const xen_pfn_t *)&frame, .err = &error,
	};
	long rc = ioctl(fd, IOCTL_PRIVCMD_MMAPBATCH_V2, &cmd);

	result(what, rc);
	if (!rc)
		printf("%s %s: the hypervisor says %s\n", label, what,
		       error ? strerrorname_np(-error) : "yes");
	munmap(p, PAGE);
}

static void try_ours(int fd)
{
	uint64_t frame = 0x100;
	int error = 0;
	struct xenferry_map map = {
		.addr = 0x1000, .num = 1, .domid = 0,
		.frames = (unsigned long)&frame, .errors = (unsigned long)&error,
	};
	struct xenferry_query query = { 0 };

	if (!ioctl(fd, IOCTL_XENFERRY_QUERY, &query))
		result("xenferry map of domain 0", ioctl(fd, IOCTL_XENFERRY_MAP, &map));
}

int main(int argc, char **argv)
{
	struct privcmd_hypercall version = {
		.op = __HYPERVISOR_xen_version, .arg = { XENVER_version },
	};
	struct privcmd_dm_op dm_op = { .dom = 0 };
	struct privcmd_mmap_resource resource = { .dom = 0, .type = 1 };
	domid_t other = 5, target = argc > 2 ? atoi(argv[2]) : 0x7fff;
	int fd = open("/dev/xen/privcmd", O_RDWR);

	label = argc > 1 ? argv[1] : "restricted:";
	if (fd < 0) {
		result("open", -1);
		return 1;
	}
	result("hypercall", ioctl(fd, IOCTL_PRIVCMD_HYPERCALL, &version));
	try_map(fd, "map of domain 0", 0);
	try_map(fd, "map of itself", DOMID_SELF);
	try_map(fd, "map of the target", target);
	result("dm_op on domain 0", ioctl(fd, IOCTL_PRIVCMD_DM_OP, &dm_op));
	result("resource of domain 0", ioctl(fd, IOCTL_PRIVCMD_MMAP_RESOURCE, &resource));
	result("restriction to another", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &other));
	result("restriction to the target", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &target));
	try_ours(fd);
	return 0;
}
