/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "cmd_options.h"
#include "cmd_transport.h"
#include "transport/net/codec.h"
#include "transport/net/session.h"
#include "transport/peer_note.h"

static const char help_text[] =
	"usage: xl migrate -s 'xenferry connect [OPTIONS]' DOMAIN HOST\n"
	"       xenferry connect [OPTIONS] HOST xl migrate-receive [...]\n"
	"\n"
	"Carries a migration to the \"xenferry listen\" of HOST, in ssh's place: standard input,\n"
	"output, error output and the exit status of the command there. TLS 1.3, both sides\n"
	"known by their keys: HOST is the NAME of a line \"peer = NAME sha256:PIN [ADDRESS]\" in\n"
	"/etc/xenferry.conf.\n"
	"\n"
	"      --config FILE      instead of /etc/xenferry.conf\n"
	"      --compress HOW     auto (the default: what is measured to be fastest), none, lz4\n"
	"                         or zstd\n"
	"      --connections N    TCP connections in parallel, 1 (the default) to 16\n"
	"      --bandwidth RATE   at most so many bytes a second, such as 100M\n"
	"      --keep-alive SEC   say something at least so often (5)\n"
	"      --time-out SEC     give up when nothing was heard for so long (30)\n"
	"      --plain            without TLS: everybody on the way can read and alter the guest;\n"
	"                         HOST may be an address, with no line in the configuration\n"
	"  -v, --verbose          sum up at the end, on stderr\n"
	"  -h, --help             this text\n"
	"\n"
	"exit status: that of the command on HOST; 255 if there was no connection, it was lost,\n"
	"or a signal ended the command; 2 usage\n";

/* Those that are keys of the configuration, too, and win over it. */
static const char *const settings[] = { "compress", "connections", "bandwidth", "keep-alive", "time-out" };
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

struct wanted {
	const char *config;
	const char *setting[SETTINGS];
	int plain, verbose;
	const char *host;
	char **command;
};

static int parse(struct wanted *w, int argc, char **argv)
{
	const struct cmd_option options[] = {
		{ "config", 0, .text = &w->config },
		{ "compress", 0, .text = &w->setting[0] },
		{ "connections", 0, .text = &w->setting[1] },
		{ "bandwidth", 0, .text = &w->setting[2] },
		{ "keep-alive", 0, .text = &w->setting[3] },
		{ "time-out", 0, .text = &w->setting[4] },
		{ "plain", 0, .flag = &w->plain },
		{ "verbose", 'v', .flag = &w->verbose },
		{ .name = NULL },
	};
	int ret;

	*w = (struct wanted){ .config = TRANSPORT_CONFIG };
	ret = cmd_options(&(const struct cmd_usage) { "connect", help_text, options, true }, argc, argv);
	if (ret)
		return ret;
	if (argc - optind < 2)
		return cmd_misuse("connect", "found %d arguments, expected a host and a command", argc - optind) + 1;
	w->host = argv[optind];
	w->command = argv + optind + 1;
	return 0;
}

static int configure(const struct wanted *w, struct transport_config *c)
{
	struct xf_error e = { 0 };

	if (transport_config_load(w->config, c, &e) && !(w->plain && e.code == -ENOENT))
		return cmd_fail("connect", EXIT_CARRIER, "%s", e.text);
	for (size_t i = 0; i < SETTINGS; i++) {
		char key[64];

		if (!w->setting[i])
			continue;
		e = (struct xf_error){ 0 };
		snprintf(key, sizeof(key), "transport-%s", settings[i]);
		if (transport_config_set(c, key, w->setting[i], &e))
			return cmd_misuse("connect", "--%s: %s", settings[i], e.text);
	}
	return 0;
}

/* ---- the other side --------------------------------------------------------------- */

static int choose_peer(const struct wanted *w, const struct transport_config *c, struct xf_peer *peer)
{
	const struct xf_peer *found = xf_peers_by_name(&c->peers, w->host);

	*peer = (struct xf_peer){ .port = TRANSPORT_PORT, .plain = w->plain };
	if (found)
		*peer = *found;
	if (!peer->port[0])
		strcpy(peer->port, TRANSPORT_PORT);
	if (found && (w->plain || !found->plain))
		return 0;
	if (w->plain) {
		struct xf_peers one = { 0 };
		struct xf_error e = { 0 };
		char line[XF_PEER_NAME + 64];

		/* An address that stands nowhere, with a port or without. */
		snprintf(line, sizeof(line), "%.150s plain", w->host);
		if (xf_peers_add(&one, line, &e))
			return cmd_misuse("connect", "%s", e.text);
		*peer = one.peer[0];
		xf_peers_free(&one);
		if (!peer->port[0])
			strcpy(peer->port, TRANSPORT_PORT);
		return 0;
	}
	return cmd_fail("connect", EXIT_CARRIER, "Found no pin for \"%s\" in %s, expected a line \"peer = %s"
			" sha256:PIN [ADDRESS[:PORT]]\"; \"xenferry listen --pin\" there prints it.", w->host,
			w->config, w->host);
}

static int dial(const struct wanted *w, const struct transport_config *c, const struct xf_identity *id,
		struct xf_links *links, struct xf_hello *answer)
{
	struct xf_error e = { 0 };
	struct xf_peer peer;
	struct xf_dial d = {
		.identity = id, .pin = peer.pin,
		.greet_ms = c->time_out_ms < XF_GREET_MS ? c->time_out_ms : XF_GREET_MS,
		.hello = { .lanes = (uint16_t)c->connections, .codecs = (1u << XF_CODECS) - 1,
			   .time_out_ms = c->time_out_ms, .software = XENFERRY_VERSION },
	};
	int ret = choose_peer(w, c, &peer);

	if (ret)
		return ret;
	d.address = peer.address;
	d.port = peer.port;
	for (char **word = w->command; *word; word++)
		if (xf_hello_add_word(&d.hello, *word))
			return cmd_misuse("connect", "found a command of over %u bytes, expected a shorter one",
					  XF_HELLO_WORDS);
	if (xf_dial(&d, links, answer, &e))
		return cmd_fail("connect", EXIT_CARRIER, "%s: %s", w->host, e.text);
	return 0;
}

/* ---- the session --------------------------------------------------------------------- */

static void sum_up(const struct xf_session_result *r, uint64_t us)
{
	char raw[32], wire[32], rate[32];

	cmd_size(raw, r->raw_sent);
	cmd_size(wire, r->wire_sent);
	cmd_size(rate, us ? r->raw_sent * 1000000 / us : 0);
	fprintf(stderr, "xenferry connect: sent %s as %s in %.2f s (%s/s), received %" PRIu64 " bytes; blocks:",
		raw, wire, (double)us / 1e6, rate, r->raw_received);
	for (int i = 0; i < XF_CODECS; i++)
		fprintf(stderr, " %s %" PRIu64, xf_codec_name((enum xf_codec)i), r->blocks[i]);
	fprintf(stderr, "; %" PRIu64 " switches.\n", r->switches);
}

static int outcome(const struct wanted *w, int ret, const struct xf_session_result *r, const struct xf_error *e)
{
	if (ret)
		return cmd_fail("connect", EXIT_CARRIER, "%s: %s", w->host, e->text);
	if (r->status & ~0xff)
		return cmd_fail("connect", EXIT_CARRIER, "%s: the command there was ended by signal %d; see the"
				" listener's log.", w->host, r->status & 0xff);
	return r->status;
}

/* The session closes what it gets: descriptor 0 stays, by which the engine finds us; 1 must go with it. */
static int take_channels(struct xf_session_setup *s)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), ret = 0;

	s->in[0] = fcntl(0, F_DUPFD_CLOEXEC, 3);
	s->in[1] = -1;
	s->out[0] = fcntl(1, F_DUPFD_CLOEXEC, 3);
	s->out[1] = fcntl(2, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || s->in[0] < 0 || s->out[0] < 0 || s->out[1] < 0 || dup2(null, 1) < 0)
		ret = cmd_fail("connect", EXIT_CARRIER, "Taking standard input and output over failed (%s):"
			       " expected them to be open.", strerror(errno));
	if (null >= 0)
		close(null);
	return ret;
}

static int carry(const struct wanted *w, const struct transport_config *c, struct xf_links *links,
		 const struct xf_hello *answer)
{
	struct xf_session_setup s = {
		.links = links->link, .n_links = links->n, .codecs = answer->codecs, .codec = c->codec,
		.bandwidth = c->bandwidth, .keep_alive_ms = c->keep_alive_ms, .ended_fd = -1,
	};
	struct xf_peer_note note = { .features = answer->features };
	struct xf_session_result r;
	struct xf_error e = { 0 };
	char path[PATH_MAX];
	uint64_t t0 = cmd_now_us();
	int ret;

	if (s.keep_alive_ms > answer->time_out_ms / 3)
		s.keep_alive_ms = answer->time_out_ms / 3 ? answer->time_out_ms / 3 : 1;
	ret = take_channels(&s);
	if (ret)
		return ret;
	snprintf(note.version, sizeof(note.version), "%s", answer->software);
	xf_peer_leave_note(&note, path, sizeof(path));	/* without it the engine assumes less */
	ret = xf_session_run(&s, &r, &e);
	xf_peer_remove_note(path);
	if (w->verbose)
		sum_up(&r, cmd_now_us() - t0);
	return outcome(w, ret, &r, &e);
}

static int run(const struct wanted *w, struct transport_config *c)
{
	struct xf_identity *id = NULL;
	struct xf_error e = { 0 };
	struct xf_hello answer;
	struct xf_links links;
	int ret = configure(w, c);

	if (ret)
		return ret;
	if (!w->plain && xf_identity_load(&id, c->certificate, c->key, &e))
		return cmd_fail("connect", EXIT_CARRIER, "%s", e.text);
	ret = dial(w, c, id, &links, &answer);
	if (!ret) {
		ret = carry(w, c, &links, &answer);
		xf_links_close(&links);
	}
	xf_identity_free(id);
	return ret;
}

int cmd_connect(int argc, char **argv)
{
	struct transport_config c;
	struct wanted w;
	int ret = parse(&w, argc, argv);

	if (ret)
		return ret - 1;
	transport_config_init(&c);
	ret = run(&w, &c);
	transport_config_free(&c);
	return ret;
}
