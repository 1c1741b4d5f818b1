/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One connection: TCP, with TLS on it or plain. One thread may read while
 * another one writes. Reads and writes are exact; what goes wrong is a
 * negative errno with a sentence:
 *
 *   -ENODATA    the other side closed it
 *   -ECONNRESET it broke off
 *   -ETIMEDOUT  nothing was heard for the time-out, or the deadline passed
 *   -EPROTO     what came is no TLS
 *   -EACCES     one side doesn't accept the other's key
 */
#ifndef XENFERRY_NET_LINK_H
#define XENFERRY_NET_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "stream/error.h"
#include "transport/net/peers.h"

struct gnutls_session_int;

struct xf_link {
	int fd;				/* ours, once it has been opened */
	struct gnutls_session_int *tls;	/* NULL: plain */
	int time_out_ms;		/* of silence while reading; 0: none */
	uint64_t deadline_ms;		/* for all reads together, by CLOCK_MONOTONIC; 0: none */
	uint8_t pin[XF_PIN];		/* of the other side's key, after a TLS handshake */
	uint64_t bytes_in, bytes_out;	/* of contents; each changed by its own thread */
	int read_errno;
	uint8_t *ahead;			/* what was received but not yet asked for */
	size_t ahead_at, ahead_len;
};

/* Takes fd over, also on error (-ENOMEM). */
int  xf_link_open(struct xf_link *l, int fd, struct xf_error *e);
/* Waits for nothing; what the frames have to say must have been said. */
void xf_link_close(struct xf_link *l);
/* Ends what another thread waits for in here. */
void xf_link_cut(struct xf_link *l);
/* All reads from now on are over in so many ms; 0: no deadline. */
void xf_link_deadline(struct xf_link *l, unsigned ms);

int xf_link_read(struct xf_link *l, void *buf, size_t len, struct xf_error *e);
int xf_link_write(struct xf_link *l, const void *buf, size_t len, struct xf_error *e);

/* ---- TLS (tls.c) -------------------------------------------------------- */

struct xf_identity;	/* this host's key and certificate */

/* A key that others than its owner may read is refused. 0, -EACCES, -EINVAL, or another errno. */
int  xf_identity_load(struct xf_identity **id, const char *certificate, const char *key,
		      struct xf_error *e);
void xf_identity_free(struct xf_identity *id);
const uint8_t *xf_identity_pin(const struct xf_identity *id);

/* A handshake, as the calling side. The other one's key must have this pin. */
int xf_link_tls_client(struct xf_link *l, const struct xf_identity *id, const uint8_t pin[XF_PIN],
		       struct xf_error *e);
/* As the called side: the other one's key must be that of a peer. */
int xf_link_tls_server(struct xf_link *l, const struct xf_identity *id, const struct xf_peers *peers,
		       struct xf_error *e);

/* ---- TCP (tcp.c) --------------------------------------------------------- */

/* A connected descriptor, or a negative errno with the sentence. */
int xf_tcp_connect(const char *host, const char *port, unsigned ms, struct xf_error *e);
/* A listening one; host "": on all addresses. */
int xf_tcp_listen(const char *host, const char *port, struct xf_error *e);
/* What a connection is made of before it carries anything. */
void xf_tcp_tune(int fd);
/* "192.0.2.1" without its port, of the other side. */
void xf_tcp_peer_address(int fd, char *text, size_t room);
/* The port a listening descriptor has. */
unsigned xf_tcp_port(int fd);

#endif
