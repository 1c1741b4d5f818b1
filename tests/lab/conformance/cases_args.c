// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arguments nobody should pass, and who may not pass which. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>


#include "cases.h"
#include "conform.h"

#include <xen/memory.h>
#include <xen/version.h>

static int errors[1024];
#define BAD ((void *)8)

void args_batch(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 4, PROT_READ);

	tell("num 0", batch(fd, p, 0, guest, stamped, errors));
	tell("v1 num 0", batch_v1(fd, p, 0, guest, stamped));
	tell("v1 num -1", batch_v1(fd, p, -1, guest, stamped));
	tell("frames unreadable", batch(fd, p, 4, guest, BAD, errors));
	tell("errors unwritable", batch(fd, p, 4, guest, stamped, BAD));
	tell("errors null", batch(fd, p, 4, guest, stamped, NULL));
	tell("errors in the kernel", batch(fd, p, 4, guest, stamped, (int *)-4096L));
	tell("v1 frames in the kernel", batch_v1(fd, p, 4, guest, (uint64_t *)-4096L));
	tell("v1 frames unreadable", batch_v1(fd, p, 4, guest, BAD));
	tell("structure unreadable", ioctl(fd, IOCTL_PRIVCMD_MMAPBATCH_V2, BAD));
	tell("v1 structure unreadable", ioctl(fd, IOCTL_PRIVCMD_MMAPBATCH, BAD));
	tell("runs structure unreadable", ioctl(fd, IOCTL_PRIVCMD_MMAP, BAD));
	tell("still free", batch(fd, p, 4, guest, stamped, errors));
	tell_pages("pages", p, stamped, 4);
	munmap(p, 4 * PAGE);
	close(fd);
}

/* Which of two things wrong at once is reported. */
void args_batch_order(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 4, PROT_READ);

	tell("bad vma, bad frames", batch(fd, BAD, 4, guest, BAD, errors));
	tell("bad vma, bad errors", batch(fd, BAD, 4, guest, stamped, BAD));
	tell("num 0, bad errors", batch(fd, p, 0, guest, stamped, (int *)-4096L));
	tell("too many, bad frames", batch(fd, p, 100000, guest, BAD, errors));
	tell("too many, bad errors", batch(fd, p, 1024, guest, stamped, BAD));
	munmap(p, 4 * PAGE);
	close(fd);
}

/* One page of the array is there, the number says 4 G. */
void args_huge(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 4, PROT_READ);
	uint64_t *frames = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(frames != MAP_FAILED, "get memory");
	munmap((char *)frames + PAGE, PAGE);
	tell("frames", batch(fd, p, 0xffffffff, guest, frames, errors));
	tell("v1 frames", batch_v1(fd, p, -1, guest, frames));
	tell("runs", runs(fd, 0x7fffffff, guest, (void *)frames));
	munmap(frames, PAGE);
	munmap(p, 4 * PAGE);
	close(fd);
}

void args_vma(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 16, PROT_READ);
	void *other = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	tell("first not at the start", batch(fd, p + PAGE, 15, guest, stamped, errors));
	tell("first too short", batch(fd, p, 15, guest, stamped, errors));
	tell("first too long", batch(fd, p, 17, guest, stamped, errors));
	tell("first unaligned", batch(fd, p + 1, 16, guest, stamped, errors));
	tell("other memory", batch(fd, other, 1, guest, stamped, errors));
	tell("no memory", batch(fd, BAD, 1, guest, stamped, errors));
	tell("kernel address", batch(fd, (void *)-8192L, 1, guest, stamped, errors));
	tell("first", batch(fd, p, 16, guest, stamped, errors));
	tell("populated", batch(fd, p, 16, guest, stamped, errors));
	tell("populated in part", batch(fd, p + 15 * PAGE, 1, guest, stamped, errors));
	tell_pages("pages", p, stamped, 16);
	munmap(other, PAGE);
	munmap(p, 16 * PAGE);
	close(fd);
}

void args_unknown(void)
{
	int fd = privcmd_open();

	tell("ioctl 1", ioctl(fd, _IOC(_IOC_NONE, 'P', 1, 8), errors));
	tell("ioctl 200", ioctl(fd, _IOC(_IOC_NONE, 'P', 200, 0), errors));
	tell("another size", ioctl(fd, _IOC(_IOC_NONE, 'P', 4, 8), errors));
	tell("TCGETS", ioctl(fd, 0x5401, errors));
	tell("read", read(fd, errors, 8));
	tell("write", write(fd, errors, 8));
	close(fd);
}

static long dm_op(int fd, domid_t domid, unsigned int num, const void *buffers)
{
	struct privcmd_dm_op cmd = { .dom = domid, .num = num, .ubufs = buffers };

	return ioctl(fd, IOCTL_PRIVCMD_DM_OP, &cmd);
}

void args_dm_op(void)
{
	static char op[4096] __attribute__((aligned(4096)));
	int fd = privcmd_open();
	struct privcmd_dm_op_buf one = { op, 64 }, many[17];
	int i;

	memset(op, 0xff, sizeof(op));
	for (i = 0; i < 17; i++)
		many[i] = one;
	tell("no buffer", dm_op(fd, guest, 0, BAD));
	tell("17 buffers", dm_op(fd, guest, 17, many));
	tell("16 buffers", dm_op(fd, guest, 16, many));
	tell("buffers unreadable", dm_op(fd, guest, 1, BAD));
	tell("structure unreadable", ioctl(fd, IOCTL_PRIVCMD_DM_OP, BAD));
	tell("unknown operation", dm_op(fd, guest, 1, &one));
	tell("nobody's", dm_op(fd, NOBODY, 1, &one));
	one.size = 4097;
	tell("buffer too large", dm_op(fd, guest, 1, &one));
	one = (struct privcmd_dm_op_buf){ op + 1, 0 };
	tell("buffer empty, unaligned", dm_op(fd, guest, 1, &one));
	one = (struct privcmd_dm_op_buf){ BAD, 64 };
	tell("buffer unreadable", dm_op(fd, guest, 1, &one));
	one = (struct privcmd_dm_op_buf){ (void *)-4096L, 64 };
	tell("buffer in the kernel", dm_op(fd, guest, 1, &one));
	one = (struct privcmd_dm_op_buf){ op + 4000, 200 };
	tell("buffer over a page's end", dm_op(fd, guest, 1, &one));
	close(fd);
}

void dm_op_empty(void)
{
	static char op[4096] __attribute__((aligned(4096)));
	struct privcmd_dm_op_buf two[2] = { { op, 64 }, { op, 0 } };
	int fd = privcmd_open();

	memset(op, 0xff, sizeof(op));
	tell("an empty buffer", dm_op(fd, guest, 1, &two[1]));
	tell("an empty one at the end", dm_op(fd, guest, 2, two));
	close(fd);
}

static long resource(int fd, domid_t domid, unsigned int type, uint64_t num,
		     uint64_t addr, uint64_t *out)
{
	struct privcmd_mmap_resource cmd = {
		.dom = domid, .type = type, .num = num, .addr = addr,
	};
	long rc = ioctl(fd, IOCTL_PRIVCMD_MMAP_RESOURCE, &cmd);

	if (out)
		*out = cmd.num;
	return rc;
}

void args_resource(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 1, PROT_READ);
	uint64_t num = 0;

	tell("structure unreadable", ioctl(fd, IOCTL_PRIVCMD_MMAP_RESOURCE, BAD));
	tell("size", resource(fd, guest, XENMEM_resource_grant_table, 0, 0, &num));
	say("frames: %lu", (unsigned long)num);
	tell("size of nobody's", resource(fd, NOBODY, XENMEM_resource_grant_table, 0, 0, NULL));
	tell("size of an unknown type", resource(fd, guest, 99, 0, 0, NULL));
	tell("num without addr", resource(fd, guest, 1, 1, 0, NULL));
	tell("addr without num", resource(fd, guest, 1, 0, (unsigned long)p, NULL));
	tell("other memory", resource(fd, guest, 1, 1, 8, NULL));
	tell("4 G frames", resource(fd, guest, 1, 0xffffffff, (unsigned long)p, NULL));
	tell("all frames", resource(fd, guest, 1, ~0ULL, (unsigned long)p, NULL));
	munmap(p, PAGE);
	p = area(fd, 1, PROT_READ);
	tell("unknown type", resource(fd, guest, 99, 1, (unsigned long)p, NULL));
	munmap(p, PAGE);
	p = area(fd, 1, PROT_READ);
	tell("nobody's", resource(fd, NOBODY, 1, 1, (unsigned long)p, NULL));
	munmap(p, PAGE);
	close(fd);
}

void resource_grants(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 1, PROT_READ | PROT_WRITE), *q = area(fd, 1, PROT_READ);
	uint64_t value = 0;

	tell("map", resource(fd, guest, XENMEM_resource_grant_table, 1, (unsigned long)p, NULL));
	tell("map again", resource(fd, guest, XENMEM_resource_grant_table, 1, (unsigned long)q, NULL));
	say("signal at writing: %d", poke(p + 2048, 0x1122334455667788));
	say("signal at reading: %d", peek(q + 2048, &value));
	say("seen: %#lx", (unsigned long)value);
	poke(p + 2048, 0);
	tell("munmap", munmap(p, PAGE));
	tell("munmap", munmap(q, PAGE));
	close(fd);
}

void resource_twice(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 1, PROT_READ);
	uint64_t value;

	tell("map", resource(fd, guest, XENMEM_resource_grant_table, 1, (unsigned long)p, NULL));
	tell("map again", resource(fd, guest, XENMEM_resource_grant_table, 1, (unsigned long)p, NULL));
	say("signal: %d", peek(p, &value));
	tell("munmap", munmap(p, PAGE));
	close(fd);
}

void resource_outside(void)
{
	int fd = privcmd_open();
	char *p = area_at(fd, room(8) + 4 * PAGE, 1, PROT_READ);

	tell("before", resource(fd, guest, 1, 1, (unsigned long)p - PAGE, NULL));
	tell("past the end", resource(fd, guest, 1, 2, (unsigned long)p, NULL));
	munmap(p, PAGE);
	close(fd);
}

void args_hypercall(void)
{
	int fd = privcmd_open();

	tell("version", hypercall(fd, __HYPERVISOR_xen_version, XENVER_version, 0, 0));
	tell("unknown", hypercall(fd, 63, 0, 0, 0));
	tell("out of range", hypercall(fd, 0xffff, 0, 0, 0));
	tell("bad pointer", hypercall(fd, __HYPERVISOR_xen_version, XENVER_extraversion, 8, 0));
	tell("structure unreadable", ioctl(fd, IOCTL_PRIVCMD_HYPERCALL, BAD));
	close(fd);
}

void restriction(void)
{
	int fd = privcmd_open(), free_fd = privcmd_open();
	domid_t mine = guest, another = NOBODY;
	struct privcmd_dm_op_buf buf = { errors, 64 };
	char *p = area(fd, 4, PROT_READ);
	struct privcmd_mmap_entry run = { (unsigned long)p, 1, 4 };

	tell("unreadable", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, BAD));
	tell("to D", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &mine));
	tell("map E", batch(fd, p, 4, another, stamped, errors));
	tell("map E, frames unreadable", batch(fd, p, 4, another, BAD, errors));
	tell("map E, num 0", batch(fd, p, 0, another, stamped, errors));
	tell("map E, v1", batch_v1(fd, p, 4, another, stamped));
	tell("map E, runs", runs(fd, 1, another, &run));
	tell("dm_op E", dm_op(fd, another, 0, NULL));
	tell("resource E", resource(fd, another, 1, 0, 0, NULL));
	tell("hypercall", hypercall(fd, __HYPERVISOR_xen_version, XENVER_version, 0, 0));
	tell("hypercall unreadable", ioctl(fd, IOCTL_PRIVCMD_HYPERCALL, BAD));
	memset(errors, 0xff, sizeof(errors));
	tell("dm_op D", dm_op(fd, mine, 1, &buf));
	tell("map D", batch(fd, p, 4, mine, stamped, errors));
	tell_pages("pages", p, stamped, 4);
	tell("to D again", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &mine));
	tell("to E", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &another));
	another = DOMID_INVALID;
	tell("to any", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &another));
	tell("another descriptor", hypercall(free_fd, __HYPERVISOR_xen_version, XENVER_version, 0, 0));
	munmap(p, 4 * PAGE);
	close(fd);
	close(free_fd);
}
