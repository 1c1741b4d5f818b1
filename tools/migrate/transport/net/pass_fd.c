/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/pass_fd.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int xf_fd_send(int socket, int fd)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	union control c = { .bytes = { 0 } };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&m);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int xf_fd_receive(int socket, int ms)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	char byte;
	struct iovec iov = { &byte, 1 };
	union control c;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	struct cmsghdr *head;
	ssize_t n;
	int fd;

	n = poll(&p, 1, ms);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	n = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n ? -errno : -ENODATA;
	head = CMSG_FIRSTHDR(&m);
	if (!head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}
