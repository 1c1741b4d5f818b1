/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_transport.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_line.h"
#include "transport/net/advice.h"
#include "transport/net/codec.h"
#include "transport/net/pace.h"

#define KEEP_ALIVE_MS 5000u
#define TIME_OUT_MS   30000u
#define MOST_SECONDS  3600.0

void transport_config_init(struct transport_config *c)
{
	*c = (struct transport_config){
		.certificate = "/etc/xenferry/cert.pem", .key = "/etc/xenferry/key.pem",
		.port = TRANSPORT_PORT, .codec = XF_ADVICE_AUTO, .connections = 1,
		.keep_alive_ms = KEEP_ALIVE_MS, .time_out_ms = TIME_OUT_MS,
	};
}

void transport_config_free(struct transport_config *c)
{
	xf_peers_free(&c->peers);
}

static int set_path(char path[PATH_MAX], const char *value, struct xf_error *e)
{
	if (!*value || strlen(value) >= PATH_MAX)
		return xf_error_set(e, -EINVAL, "found a file name of %zu bytes, expected 1 to %d",
				    strlen(value), PATH_MAX - 1);
	strcpy(path, value);
	return 0;
}

static int set_certificate(struct transport_config *c, const char *value, struct xf_error *e)
{
	return set_path(c->certificate, value, e);
}

static int set_key(struct transport_config *c, const char *value, struct xf_error *e)
{
	return set_path(c->key, value, e);
}

static int set_peer(struct transport_config *c, const char *value, struct xf_error *e)
{
	return xf_peers_add(&c->peers, value, e);
}

/* "ADDRESS", "ADDRESS:PORT", "[V6]:PORT", ":PORT". */
static int set_listen(struct transport_config *c, const char *value, struct xf_error *e)
{
	const char *colon = strrchr(value, ':'), *host = value;
	size_t len = strlen(value);

	if (*value == '[') {
		const char *end = strchr(value, ']');

		if (!end || (end[1] && end[1] != ':'))
			return xf_error_set(e, -EINVAL, "found \"%s\", expected [ADDRESS]:PORT", value);
		host++;
		len = (size_t)(end - host);
		colon = end[1] ? end + 1 : NULL;
	} else if (colon && strchr(value, ':') == colon) {
		len = (size_t)(colon - value);
	} else {
		colon = NULL;
	}
	if (len >= sizeof(c->host) || (colon && (!colon[1] || strlen(colon + 1) >= sizeof(c->port))))
		return xf_error_set(e, -EINVAL, "found \"%.80s\", expected ADDRESS:PORT", value);
	memcpy(c->host, host, len);
	c->host[len] = '\0';
	if (colon)
		strcpy(c->port, colon + 1);
	return 0;
}

static int set_compress(struct transport_config *c, const char *value, struct xf_error *e)
{
	int codec = xf_codec_by_name(value);

	if (codec < 0 && strcmp(value, "auto"))
		return xf_error_set(e, -EINVAL, "found \"%.40s\", expected auto, none, lz4 or zstd", value);
	c->codec = codec < 0 ? XF_ADVICE_AUTO : codec;
	return 0;
}

static int set_connections(struct transport_config *c, const char *value, struct xf_error *e)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*end || !isdigit((unsigned char)*value) || !n || n > XF_LANES_MAX)
		return xf_error_set(e, -EINVAL, "found \"%.40s\", expected a number from 1 to %u", value,
				    XF_LANES_MAX);
	c->connections = (unsigned)n;
	return 0;
}

static int set_bandwidth(struct transport_config *c, const char *value, struct xf_error *e)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	double n = strtod(value, &end);

	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		n *= pow(1024, (double)(unit - units + 1));
		end++;
	}
	if (*end || end == value || !(n == 0 || (n >= XF_PACE_MIN && n < 1e15)))
		return xf_error_set(e, -EINVAL, "found \"%.40s\", expected bytes a second, such as 100M, from 64K"
				    " on, or 0 for no limit", value);
	c->bandwidth = (uint64_t)n;
	return 0;
}

static int set_seconds(unsigned *ms, const char *value, struct xf_error *e)
{
	char *end;
	double n = strtod(value, &end);

	if (*end || end == value || !(n >= 0.001 && n <= MOST_SECONDS))
		return xf_error_set(e, -EINVAL, "found \"%.40s\", expected seconds, more than 0 and at most %.0f",
				    value, MOST_SECONDS);
	*ms = (unsigned)(n * 1000);
	return 0;
}

static int set_keep_alive(struct transport_config *c, const char *value, struct xf_error *e)
{
	return set_seconds(&c->keep_alive_ms, value, e);
}

static int set_time_out(struct transport_config *c, const char *value, struct xf_error *e)
{
	return set_seconds(&c->time_out_ms, value, e);
}

/* The engine's key; whether its engine receives is part of the greeting. */
static int set_engine(struct transport_config *c, const char *value, struct xf_error *e)
{
	(void)e;
	c->stock_engine = !strcmp(value, "stock");
	return 0;
}

static const struct key {
	const char *name;
	int (*set)(struct transport_config *c, const char *value, struct xf_error *e);
} keys[] = {
	{ "peer", set_peer },
	{ "listen", set_listen },
	{ "tls-certificate", set_certificate },
	{ "tls-key", set_key },
	{ "transport-compress", set_compress },
	{ "transport-connections", set_connections },
	{ "transport-bandwidth", set_bandwidth },
	{ "transport-keep-alive", set_keep_alive },
	{ "transport-time-out", set_time_out },
	{ "engine", set_engine },
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

int transport_config_set(struct transport_config *c, const char *key, const char *value, struct xf_error *e)
{
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(key, keys[i].name))
			return keys[i].set(c, value, e);
	return 0;
}

static int take_line(struct transport_config *c, const char *file, unsigned number, char *line,
		     struct xf_error *e)
{
	struct xf_error why = { 0 };
	char *key, *value;
	int rc = config_line(line, &key, &value);

	if (!rc)
		return 0;
	if (rc < 0)
		return xf_error_set(e, rc, "%s line %u: found no \"=\", expected \"key = value\".", file, number);
	if (!transport_config_set(c, key, value, &why))
		return 0;
	return xf_error_set(e, why.code, "%s line %u (%s): %s.", file, number, key, why.text);
}

int transport_config_load(const char *file, struct transport_config *c, struct xf_error *e)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(file, "re");
	int ret = 0;

	if (!f)
		return xf_error_set(e, -errno, "Opening %s failed (%s): expected the configuration, with a line"
				    " \"peer = NAME sha256:PIN\" for each host; see xenferry.conf(5).", file,
				    strerror(errno));
	for (unsigned number = 1; !ret && getline(&line, &room, f) >= 0; number++)
		ret = take_line(c, file, number, line, e);
	free(line);
	fclose(f);
	return ret;
}
