/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/net/link.h"

#define BACKLOG 32

/*
 * What is queued but not yet on its way. Enough to keep a link busy while a
 * block is compressed; more would only hide from the sender how fast it is.
 */
#define UNSENT_BYTES (1 << 20)

void xf_tcp_tune(int fd)
{
	int yes = 1, unsent = UNSENT_BYTES;

	/* None of them is essential, and a socketpair (in tests) has none of them. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
}

static int finish_connect(int fd, unsigned ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0, n;

	do
		n = poll(&p, 1, (int)ms);
	while (n < 0 && errno == EINTR);
	if (!n)
		return -ETIMEDOUT;
	if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

static int try_one(const struct addrinfo *a, unsigned ms)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol), ret = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen))
		ret = errno == EINPROGRESS ? finish_connect(fd, ms) : -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	fcntl(fd, F_SETFL, 0);
	xf_tcp_tune(fd);
	return fd;
}

int xf_tcp_connect(const char *host, const char *port, unsigned ms, struct xf_error *e)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *all;
	int ret;

	ret = getaddrinfo(host, port, &hints, &all);
	if (ret)
		return xf_error_set(e, -EHOSTUNREACH, "Found no address for %s, port %s (%s): expected a host"
				    " name or address; see the peer's line in the configuration.", host, port,
				    gai_strerror(ret));
	ret = -EHOSTUNREACH;
	for (const struct addrinfo *a = all; a && ret < 0; a = a->ai_next)
		ret = try_one(a, ms);
	freeaddrinfo(all);
	if (ret < 0)
		xf_error_set(e, ret, "Connecting to %s, port %s, failed (%s): expected \"xenferry listen\" to"
			     " answer; see that it runs there and that no firewall is between.", host, port,
			     strerror(-ret));
	return ret;
}

static int bind_one(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol), yes = 1,
	    no = 0, ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (a->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int xf_tcp_listen(const char *host, const char *port, struct xf_error *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *all;
	int ret = -EADDRNOTAVAIL, why;

	why = getaddrinfo(*host ? host : NULL, port, &hints, &all);
	if (why)
		return xf_error_set(e, -EADDRNOTAVAIL, "Found no address for \"%s\", port %s (%s): expected one"
				    " of this host to listen on.", host, port, gai_strerror(why));
	/* v6 takes v4 calls, too, so it goes first; a kernel without v6 has only the other. */
	for (int family = AF_INET6; ret < 0 && family; family = family == AF_INET6 ? AF_INET : 0)
		for (const struct addrinfo *a = all; a && ret < 0; a = a->ai_next)
			if (a->ai_family == family)
				ret = bind_one(a);
	freeaddrinfo(all);
	if (ret < 0)
		xf_error_set(e, ret, "Listening on \"%s\", port %s, failed (%s): expected a free port of this"
			     " host.", host, port, strerror(-ret));
	return ret;
}

void xf_tcp_peer_address(int fd, char *text, size_t room)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	static const char mapped[] = "::ffff:";

	if (getpeername(fd, (struct sockaddr *)&a, &len) ||
	    getnameinfo((struct sockaddr *)&a, len, text, (socklen_t)room, NULL, 0, NI_NUMERICHOST)) {
		snprintf(text, room, "?");
		return;
	}
	/* A v4 caller on a v6 socket. */
	if (!strncmp(text, mapped, sizeof(mapped) - 1) && strchr(text, '.'))
		memmove(text, text + sizeof(mapped) - 1, strlen(text + sizeof(mapped) - 1) + 1);
}

unsigned xf_tcp_port(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &len))
		return 0;
	return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
					     : ((struct sockaddr_in *)&a)->sin_port);
}
