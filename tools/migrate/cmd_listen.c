/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd.h"
#include "cmd_options.h"
#include "cmd_transport.h"
#include "transport/net/door.h"

#define SESSIONS_MAX 32u

static const char help_text[] =
	"usage: xenferry listen [OPTIONS]\n"
	"\n"
	"Waits for other hosts' \"xl migrate -s 'xenferry connect' DOMAIN HOST\" and runs\n"
	"\"xl migrate-receive\" for them, with xenferry's engine. TLS 1.3, both sides known by\n"
	"their keys: only hosts with a line \"peer = NAME sha256:PIN\" in /etc/xenferry.conf get\n"
	"in, and nothing else is run for them. Stays in the foreground; its log is on stderr.\n"
	"\n"
	"      --config FILE      instead of /etc/xenferry.conf; read anew for each call\n"
	"      --listen ADDR:PORT where to listen (all addresses, port 8803)\n"
	"      --plain            without TLS: no secrecy and no proof of who calls, but only\n"
	"                         for peers \"peer = NAME plain ADDRESS\"\n"
	"      --sessions N       end after so many sessions\n"
	"      --pin              print the pin of this host's key, for the others' peer lines\n"
	"  -h, --help             this text\n"
	"\n"
	"SIGTERM and SIGINT end it; migrations under way go on.\n"
	"\n"
	"exit status: 0 it was told to end; 1 it failed; 2 usage; 3 the configuration, the key\n"
	"or the port can't be used\n";

enum { LISTEN_CANNOT = 3 };

struct wanted {
	struct listen_options o;
	const char *listen;
	unsigned sessions;
	int pin;
};

static int print_pin(const struct transport_config *c)
{
	struct xf_identity *id;
	struct xf_error e = { 0 };
	char text[XF_PIN_TEXT];

	if (xf_identity_load(&id, c->certificate, c->key, &e))
		return cmd_fail("listen", LISTEN_CANNOT, "%s", e.text);
	puts(xf_pin_text(xf_identity_pin(id), text));
	xf_identity_free(id);
	return XF_EXIT_OK;
}

/* What would make every call fail is told at once. */
static int check(const struct wanted *w, const struct transport_config *c)
{
	struct xf_identity *id;
	struct xf_error e = { 0 };
	size_t usable = 0;

	for (size_t i = 0; i < c->peers.n; i++)
		usable += c->peers.peer[i].plain == w->o.plain;
	if (!usable)
		return cmd_fail("listen", LISTEN_CANNOT, "Found no line \"peer = NAME %s\" in %s, expected one for"
				" each host that may come in.", w->o.plain ? "plain ADDRESS" : "sha256:PIN",
				w->o.config);
	if (w->o.plain)
		return 0;
	if (xf_identity_load(&id, c->certificate, c->key, &e))
		return cmd_fail("listen", LISTEN_CANNOT, "%s", e.text);
	xf_identity_free(id);
	return 0;
}

static int listen_on(struct wanted *w, const struct transport_config *c)
{
	struct xf_door_setup door = {
		.stop_fd = -1, .greet_ms = XF_GREET_MS, .sessions_max = SESSIONS_MAX,
		.sessions_total = w->sessions, .session = listen_session, .log = listen_log, .ctx = &w->o,
	};
	struct xf_error e = { 0 };
	sigset_t mask;
	int ret;

	door.listener = xf_tcp_listen(c->host, c->port, &e);
	if (door.listener < 0)
		return cmd_fail("listen", LISTEN_CANNOT, "%s", e.text);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	door.stop_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	fprintf(stderr, "xenferry listen: listening on %s, port %u, %s; %zu peers are known.\n",
		c->host[0] ? c->host : "all addresses", xf_tcp_port(door.listener),
		w->o.plain ? "without TLS" : "with TLS", c->peers.n);
	ret = xf_door_run(&door, &e);
	close(door.stop_fd);
	close(door.listener);
	return ret ? cmd_fail("listen", XF_EXIT_FAILED, "%s", e.text) : XF_EXIT_OK;
}

static int run(struct wanted *w, struct transport_config *c)
{
	struct xf_error e = { 0 };
	int ret;

	if (transport_config_load(w->o.config, c, &e)) {
		/* A pin is what one needs before there can be a configuration. */
		if (!w->pin || e.code != -ENOENT)
			return cmd_fail("listen", LISTEN_CANNOT, "%s", e.text);
	}
	if (w->pin)
		return print_pin(c);
	e = (struct xf_error){ 0 };
	if (w->listen && transport_config_set(c, "listen", w->listen, &e))
		return cmd_misuse("listen", "--listen: %s", e.text);
	ret = check(w, c);
	return ret ? ret : listen_on(w, c);
}

int cmd_listen(int argc, char **argv)
{
	struct wanted w = { .o = { .config = TRANSPORT_CONFIG } };
	const struct cmd_option options[] = {
		{ "config", 0, .text = &w.o.config },
		{ "listen", 0, .text = &w.listen },
		{ "plain", 0, .flag = &w.o.plain },
		{ "sessions", 0, .number = &w.sessions, .least = 1, .most = UINT32_MAX },
		{ "pin", 0, .flag = &w.pin },
		{ .name = NULL },
	};
	struct transport_config c;
	int ret = cmd_options(&(const struct cmd_usage) { "listen", help_text, options, false }, argc, argv);

	if (ret)
		return ret - 1;
	if (optind != argc)
		return cmd_misuse("listen", "found \"%s\", expected options only", argv[optind]);
	transport_config_init(&c);
	ret = run(&w, &c);
	transport_config_free(&c);
	return ret;
}
