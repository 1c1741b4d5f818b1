/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A descriptor from one process to another, through a Unix socket. */
#ifndef XENFERRY_NET_PASS_FD_H
#define XENFERRY_NET_PASS_FD_H

/* The descriptor stays the caller's. 0 or a negative errno; never waits. */
int xf_fd_send(int socket, int fd);
/* The descriptor; -ETIMEDOUT, -ENODATA where the other end is closed, or another negative errno. */
int xf_fd_receive(int socket, int ms);

#endif
