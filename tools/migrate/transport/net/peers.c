/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/net/peers.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char pin_prefix[] = "sha256:";

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int parse_pin(const char *text, uint8_t pin[XF_PIN])
{
	if (strncmp(text, pin_prefix, sizeof(pin_prefix) - 1))
		return -EINVAL;
	text += sizeof(pin_prefix) - 1;
	if (strlen(text) != 2 * XF_PIN)
		return -EINVAL;
	for (size_t i = 0; i < XF_PIN; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		pin[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

const char *xf_pin_text(const uint8_t pin[XF_PIN], char text[XF_PIN_TEXT])
{
	size_t at = (size_t)snprintf(text, XF_PIN_TEXT, "%s", pin_prefix);

	for (size_t i = 0; i < XF_PIN; i++)
		at += (size_t)snprintf(text + at, XF_PIN_TEXT - at, "%02x", pin[i]);
	return text;
}

/* "host", "host:port", "[v6]:port"; more than one colon without brackets is a v6 address alone. */
static int parse_address(char *text, struct xf_peer *p)
{
	char *colon = strrchr(text, ':'), *port = NULL;
	size_t len = strlen(text);

	if (*text == '[') {
		char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		port = end[1] ? end + 2 : NULL;
		*end = '\0';
		text++;
	} else if (colon && strchr(text, ':') == colon) {
		*colon = '\0';
		port = colon + 1;
	}
	if (!*text || len >= sizeof(p->address) || (port && (!*port || strlen(port) >= sizeof(p->port))))
		return -EINVAL;
	strcpy(p->address, text);
	strcpy(p->port, port ? port : "");
	return 0;
}

static int parse(char *text, struct xf_peer *p, struct xf_error *e)
{
	char *rest = NULL, *name = strtok_r(text, " \t", &rest), *pin, *address, *more;

	pin = name ? strtok_r(NULL, " \t", &rest) : NULL;
	address = pin ? strtok_r(NULL, " \t", &rest) : NULL;
	more = address ? strtok_r(NULL, " \t", &rest) : NULL;
	if (!pin || more)
		return xf_error_set(e, -EINVAL, "found %s words for a peer, expected \"NAME sha256:PIN"
				    " [ADDRESS[:PORT]]\"", more ? "more than three" : "fewer than two");
	if (strlen(name) >= sizeof(p->name))
		return xf_error_set(e, -EINVAL, "found a peer's name of %zu bytes, expected at most %zu",
				    strlen(name), sizeof(p->name) - 1);
	strcpy(p->name, name);
	p->plain = !strcmp(pin, "plain");
	if (!p->plain && parse_pin(pin, p->pin))
		return xf_error_set(e, -EINVAL, "found \"%.80s\" as the pin of peer %s, expected \"sha256:\""
				    " and 64 hexadecimal digits (\"xenferry listen --pin\" prints them there)",
				    pin, name);
	if (parse_address(address ? address : name, p))
		return xf_error_set(e, -EINVAL, "found \"%.80s\" as the address of peer %s, expected a host,"
				    " or host:port", address ? address : name, p->name);
	return 0;
}

int xf_peers_add(struct xf_peers *p, const char *text, struct xf_error *e)
{
	struct xf_peer one = { .plain = 0 }, *grown;
	char *copy;
	int ret;

	if (p->n >= XF_PEERS_MAX)
		return xf_error_set(e, -EINVAL, "found more than %u peers, expected fewer", XF_PEERS_MAX);
	copy = strdup(text);
	if (!copy)
		return xf_error_set(e, -ENOMEM, "there is no memory for another peer");
	ret = parse(copy, &one, e);
	free(copy);
	if (ret)
		return ret;
	if (xf_peers_by_name(p, one.name))
		return xf_error_set(e, -EINVAL, "found peer %s twice, expected each name once", one.name);
	grown = realloc(p->peer, (p->n + 1) * sizeof(*grown));
	if (!grown)
		return xf_error_set(e, -ENOMEM, "there is no memory for another peer");
	p->peer = grown;
	p->peer[p->n++] = one;
	return 0;
}

void xf_peers_free(struct xf_peers *p)
{
	free(p->peer);
	*p = (struct xf_peers){ 0 };
}

const struct xf_peer *xf_peers_by_name(const struct xf_peers *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->peer[i].name, name))
			return &p->peer[i];
	return NULL;
}

const struct xf_peer *xf_peers_by_pin(const struct xf_peers *p, const uint8_t pin[XF_PIN])
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->peer[i].plain && !memcmp(p->peer[i].pin, pin, XF_PIN))
			return &p->peer[i];
	return NULL;
}

static int is_at(const struct xf_peer *p, const char *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *all;
	char text[NI_MAXHOST];
	int found = 0;

	if (getaddrinfo(p->address, NULL, &hints, &all))
		return 0;
	for (const struct addrinfo *a = all; a && !found; a = a->ai_next)
		found = !getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0,
				     NI_NUMERICHOST) && !strcmp(text, address);
	freeaddrinfo(all);
	return found;
}

const struct xf_peer *xf_peers_by_address(const struct xf_peers *p, const char *address)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->peer[i].plain && is_at(&p->peer[i], address))
			return &p->peer[i];
	return NULL;
}
