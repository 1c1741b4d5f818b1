/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hosts this one talks to. A peer is known by its key: the pin is SHA-256
 * of the public key (SubjectPublicKeyInfo), so it stays when a certificate is
 * renewed. A plain one has no key and is known by its address, which proves little.
 */
#ifndef XENFERRY_NET_PEERS_H
#define XENFERRY_NET_PEERS_H

#include <stddef.h>
#include <stdint.h>

#include "stream/error.h"

#define XF_PIN	     32u
#define XF_PIN_TEXT  72u	/* "sha256:" and 64 digits */
#define XF_PEER_NAME 128u
#define XF_PEERS_MAX 1024u

struct xf_peer {
	char name[XF_PEER_NAME];
	char address[XF_PEER_NAME];	/* the name, where none was given */
	char port[8];			/* "" where none was given */
	int plain;			/* has no pin, and is let in without TLS */
	uint8_t pin[XF_PIN];
};

struct xf_peers {
	struct xf_peer *peer;
	size_t n;
};

/* "NAME sha256:HEX [ADDRESS[:PORT]]" or "NAME plain [ADDRESS[:PORT]]". 0, -EINVAL with the sentence, -ENOMEM. */
int  xf_peers_add(struct xf_peers *p, const char *text, struct xf_error *e);
void xf_peers_free(struct xf_peers *p);

const struct xf_peer *xf_peers_by_name(const struct xf_peers *p, const char *name);
const struct xf_peer *xf_peers_by_pin(const struct xf_peers *p, const uint8_t pin[XF_PIN]);
/* Of the plain ones; a peer named by a host name is looked up. */
const struct xf_peer *xf_peers_by_address(const struct xf_peers *p, const char *address);

const char *xf_pin_text(const uint8_t pin[XF_PIN], char text[XF_PIN_TEXT]);

#endif
