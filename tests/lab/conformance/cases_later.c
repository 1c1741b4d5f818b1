// SPDX-License-Identifier: LGPL-2.1-or-later
/* The calls that later kernels have; earlier ones say ENOTTY to all of it. */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "conform.h"

#define BAD ((void *)8)

/* As in the kernel's xen/privcmd.h; Xen's own headers of this release lack them. */
struct irqfd {
	uint64_t dm_op;
	uint32_t size, fd, flags;
	uint16_t dom;
	uint8_t pad[2];
};
struct ioeventfd {
	uint64_t ioreq, ports, addr;
	uint32_t addr_len, event_fd, vcpus, vq, flags;
	uint16_t dom;
	uint8_t pad[2];
};
struct get_gsi {
	uint32_t sbdf, gsi;
};
#define IRQFD _IOW('P', 8, struct irqfd)
#define IOEVENTFD _IOW('P', 9, struct ioeventfd)
#define GET_GSI _IOC(_IOC_NONE, 'P', 10, sizeof(struct get_gsi))
#define DEASSIGN 1

void irqfd_args(void)
{
	char op[32] = "";
	int fd = privcmd_open(), event = eventfd(0, EFD_CLOEXEC);
	struct irqfd irqfd = {
		.dm_op = (unsigned long)op, .size = sizeof(op), .fd = event, .dom = guest,
	};

	need(event >= 0, "make an eventfd");
	tell("structure unreadable", ioctl(fd, IRQFD, BAD));
	irqfd.flags = 2;
	tell("unknown flag", ioctl(fd, IRQFD, &irqfd));
	irqfd.flags = DEASSIGN;
	tell("deassign what is none's", ioctl(fd, IRQFD, &irqfd));
	irqfd.fd = fd;
	tell("deassign no eventfd", ioctl(fd, IRQFD, &irqfd));
	irqfd.flags = 0;
	tell("no eventfd", ioctl(fd, IRQFD, &irqfd));
	irqfd.fd = -1;
	tell("no descriptor", ioctl(fd, IRQFD, &irqfd));
	irqfd.fd = event;
	irqfd.dm_op = (unsigned long)BAD;
	tell("operation unreadable", ioctl(fd, IRQFD, &irqfd));
	close(event);
	close(fd);
}

void ioeventfd_args(void)
{
	int fd = privcmd_open(), event = eventfd(0, EFD_CLOEXEC);
	struct ioeventfd io = { .event_fd = event, .dom = guest, .vcpus = 1, .addr_len = 4 };

	need(event >= 0, "make an eventfd");
	tell("structure unreadable", ioctl(fd, IOEVENTFD, BAD));
	io.flags = 2;
	tell("unknown flag", ioctl(fd, IOEVENTFD, &io));
	io.flags = DEASSIGN;
	tell("deassign what is none's", ioctl(fd, IOEVENTFD, &io));
	io.flags = 0;
	io.addr_len = 3;
	tell("odd length", ioctl(fd, IOEVENTFD, &io));
	io.addr_len = 4;
	io.addr = ~0ULL;
	tell("past the end", ioctl(fd, IOEVENTFD, &io));
	io.addr = 0;
	io.vcpus = 0;
	tell("no vCPU", ioctl(fd, IOEVENTFD, &io));
	io.vcpus = 5000;
	tell("too many vCPUs", ioctl(fd, IOEVENTFD, &io));
	io.vcpus = 1;
	io.event_fd = fd;
	tell("no eventfd", ioctl(fd, IOEVENTFD, &io));
	close(event);
	close(fd);
}

/* Signalled twice, taken back, assigned anew and left to end with its descriptor. */
void irqfd_use(void)
{
	char op[32];
	int fd = privcmd_open(), event = eventfd(1, EFD_CLOEXEC);
	struct irqfd irqfd = {
		.dm_op = (unsigned long)op, .size = sizeof(op), .fd = event, .dom = guest,
	};
	uint64_t one = 1;

	need(event >= 0, "make an eventfd");
	memset(op, 0xff, sizeof(op));	/* an operation that there is none of */
	tell("assign", ioctl(fd, IRQFD, &irqfd));
	tell("assign again", ioctl(fd, IRQFD, &irqfd));
	need(write(event, &one, 8) == 8, "signal the eventfd");
	irqfd.flags = DEASSIGN;
	tell("deassign", ioctl(fd, IRQFD, &irqfd));
	irqfd.flags = 0;
	tell("assign anew", ioctl(fd, IRQFD, &irqfd));
	close(event);
	close(fd);
}

/* Memory that is no ioreq server's. */
void ioeventfd_memory(void)
{
	int fd = privcmd_open(), event = eventfd(0, EFD_CLOEXEC);
	char *p = area(fd, 1, PROT_READ);
	uint32_t port = 0;
	struct ioeventfd io = {
		.event_fd = event, .dom = guest, .vcpus = 1, .addr_len = 4, .ioreq = 8,
		.ports = (unsigned long)&port,
	};

	need(event >= 0, "make an eventfd");
	tell("no memory", ioctl(fd, IOEVENTFD, &io));
	io.ioreq = (unsigned long)&port;
	tell("other memory", ioctl(fd, IOEVENTFD, &io));
	io.ioreq = (unsigned long)p;
	tell("nothing mapped", ioctl(fd, IOEVENTFD, &io));
	munmap(p, PAGE);
	close(event);
	close(fd);
}

void gsi_args(void)
{
	int fd = privcmd_open();
	struct get_gsi gsi = { .sbdf = 0, .gsi = 12345 };

	tell("structure unreadable", ioctl(fd, GET_GSI, BAD));
	tell("of the host bridge", ioctl(fd, GET_GSI, &gsi));
	gsi.sbdf = ~0U;
	tell("of nothing", ioctl(fd, GET_GSI, &gsi));
	say("gsi: %u", gsi.gsi);
	close(fd);
}

void later_restricted(void)
{
	int fd = privcmd_open(), event = eventfd(0, EFD_CLOEXEC);
	domid_t mine = guest;
	struct irqfd irqfd = { .fd = event, .dom = NOBODY };
	struct ioeventfd io = { .event_fd = event, .dom = NOBODY, .vcpus = 1, .addr_len = 4 };
	struct get_gsi gsi = { 0 };

	need(event >= 0 && !ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &mine), "restrict a descriptor");
	tell("irqfd E", ioctl(fd, IRQFD, &irqfd));
	tell("ioeventfd E", ioctl(fd, IOEVENTFD, &io));
	tell("gsi", ioctl(fd, GET_GSI, &gsi));
	close(event);
	close(fd);
}
