/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between link.c and tls.c. */
#ifndef XENFERRY_NET_LINK_IO_H
#define XENFERRY_NET_LINK_IO_H

#include <sys/types.h>

#include "transport/net/link.h"

/* Some bytes from the socket, 0 at the end, or a negative errno; waits by the link's limits. */
ssize_t xf_link_some(struct xf_link *l, void *buf, size_t len);
/* Some bytes to the socket, or a negative errno. */
ssize_t xf_link_send(struct xf_link *l, const void *buf, size_t len);
/* Until the socket is ready: 0, also when it may not be; most_ms 0: by the link's limits. */
int xf_link_wait(const struct xf_link *l, short events, unsigned most_ms);
/* The sentence for what the functions above return, where there is none yet. */
int xf_link_sentence(int ret, struct xf_error *e);

ssize_t xf_tls_read(struct xf_link *l, void *buf, size_t len, struct xf_error *e);
ssize_t xf_tls_write(struct xf_link *l, const void *buf, size_t len, struct xf_error *e);
void xf_tls_end(struct xf_link *l);

#endif
