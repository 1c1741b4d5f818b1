/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One call at the listener, in a process of its own: who is it, what does it want, and xl for it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "cmd_migrate.h"
#include "cmd_transport.h"
#include "transport/net/door.h"
#include "transport/net/session.h"
#include "transport/peer_note.h"

#define WORDS_MAX 64

struct call {
	const struct listen_options *o;
	struct transport_config config;
	struct xf_identity *identity;
	struct xf_links links;
	struct xf_hello theirs;
	const struct xf_peer *peer;
	int more;			/* to the door */
	char helper[PATH_MAX];		/* "": not installed */
	pid_t xl;
	int has_ended, wait_status;
};

void listen_log(void *options, const char *text)
{
	(void)options;
	fprintf(stderr, "xenferry listen: %s\n", text);
}

static void __attribute__((format(printf, 2, 3)))
say(const struct call *c, const char *fmt, ...)
{
	char text[XF_ERROR_TEXT + 256];
	size_t n = (size_t)snprintf(text, sizeof(text), "%.127s: ", c->peer ? c->peer->name : "a caller");
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, args);
	va_end(args);
	listen_log(NULL, text);
}

/* ---- xl --------------------------------------------------------------------------- */

static void exec_xl(struct call *c, int in, int out, int err)
{
	struct xf_peer_note theirs = { .features = c->theirs.features };
	char text[XF_PEER_NOTE], *argv[WORDS_MAX + 1];
	const char *word = NULL;
	sigset_t none;
	int n = 0;

	snprintf(theirs.version, sizeof(theirs.version), "%s", c->theirs.software);
	while (n < WORDS_MAX && (word = xf_hello_word(&c->theirs, word)))
		argv[n++] = ARG(word);
	argv[n] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();	/* what a terminal sends to the listener isn't for it */
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
	    (c->helper[0] ? setenv("LIBXL_SAVE_HELPER", c->helper, 1) : unsetenv("LIBXL_SAVE_HELPER")) ||
	    setenv(XF_PEER_VARIABLE, xf_peer_note_text(&theirs, text), 1))
		_exit(127);
	execvp(argv[0], argv);
	dprintf(2, "xenferry listen: starting xl failed (%s): expected it in PATH there.\n", strerror(errno));
	_exit(127);
}

static int start_xl(struct call *c, struct xf_session_setup *s)
{
	int in[2], out[2], err[2], ret;

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC))
		goto close_in;
	if (pipe2(err, O_CLOEXEC))
		goto close_out;
	c->xl = fork();
	if (!c->xl)
		exec_xl(c, in[0], out[1], err[1]);
	if (c->xl < 0)
		goto close_err;
	close(in[0]);
	close(out[1]);
	close(err[1]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);	/* our end only */
	s->out[0] = in[1];
	s->out[1] = -1;
	s->in[0] = out[0];
	s->in[1] = err[0];
	s->ended_fd = (int)syscall(SYS_pidfd_open, c->xl, 0);
	return s->ended_fd < 0 ? -errno : 0;
close_err:
	ret = -errno;
	close(err[0]);
	close(err[1]);
	errno = -ret;
close_out:
	ret = -errno;
	close(out[0]);
	close(out[1]);
	errno = -ret;
close_in:
	ret = -errno;
	close(in[0]);
	close(in[1]);
	return ret;
}

static void reap(struct call *c)
{
	while (!c->has_ended && waitpid(c->xl, &c->wait_status, 0) < 0 && errno == EINTR)
		;
	c->has_ended = 1;
}

static int status(void *ctx)
{
	struct call *c = ctx;

	reap(c);
	return WIFEXITED(c->wait_status) ? WEXITSTATUS(c->wait_status) : 0x100 | WTERMSIG(c->wait_status);
}

/* ---- the call --------------------------------------------------------------------- */

static int allow(void *ctx, const struct xf_peer *peer, const struct xf_hello *theirs, struct xf_error *e)
{
	struct call *c = ctx;
	int ret;

	c->peer = peer;
	ret = listen_command_allowed(theirs, e);
	return ret ? ret : xf_door_let_in(c->more, e);
}

static void find_helper(struct call *c)
{
	const char *named = getenv("XENFERRY_HELPER");

	snprintf(c->helper, sizeof(c->helper), "%s", named && *named ? named : XENFERRY_HELPER);
	if (access(c->helper, X_OK))
		c->helper[0] = '\0';
}

static int answer(struct call *c, int fd, const uint8_t token[XF_TOKEN], struct xf_error *e)
{
	struct xf_answer a = {
		.identity = c->identity, .peers = &c->config.peers, .greet_ms = XF_GREET_MS,
		.lanes_max = XF_LANES_MAX, .allow = allow, .ctx = c,
		.hello = { .codecs = (1u << XF_CODECS) - 1, .time_out_ms = c->config.time_out_ms,
			   .software = XENFERRY_VERSION },
	};

	memcpy(a.token, token, XF_TOKEN);
	if (a.greet_ms > c->config.time_out_ms)
		a.greet_ms = c->config.time_out_ms;
	if (c->helper[0] && !c->config.stock_engine)
		a.hello.features = XF_FEATURES_OF_ENGINE;
	return xf_answer(&a, fd, c->more, &c->links, &c->theirs, &c->peer, e);
}

/* Three times in the other side's time-out: one may be late. */
static unsigned keep_alive(const struct call *c)
{
	unsigned theirs = c->theirs.time_out_ms / 3 ? c->theirs.time_out_ms / 3 : 1;

	return theirs < c->config.keep_alive_ms ? theirs : c->config.keep_alive_ms;
}

static void tell_end(const struct call *c, int ret, const struct xf_session_result *r, const struct xf_error *e)
{
	char size[32];

	cmd_size(size, r->raw_received);
	if (ret)
		say(c, "the session failed after %s. %s", size, e->text);
	if (WIFSIGNALED(c->wait_status))
		say(c, "xl was ended by signal %d after %s.", WTERMSIG(c->wait_status), size);
	else
		say(c, "xl ended with exit status %d after %s (%" PRIu64 " bytes on the wire).",
		    WEXITSTATUS(c->wait_status), size, r->wire_received);
}

static int serve(struct call *c, struct xf_error *e)
{
	struct xf_session_setup s = {
		.links = c->links.link, .n_links = c->links.n, .codecs = c->theirs.codecs,
		.codec = c->config.codec, .bandwidth = c->config.bandwidth, .keep_alive_ms = keep_alive(c),
		.ended_fd = -1, .status = status, .ctx = c,
	};
	struct xf_session_result r = { 0 };
	int ret = start_xl(c, &s);

	if (ret)
		return xf_error_set(e, ret, "Starting xl failed (%s).", strerror(-ret));
	say(c, "xl migrate-receive begins (xenferry %s there, %u connections, %s).", c->theirs.software,
	    c->links.n, c->identity ? "TLS" : "plain");
	ret = xf_session_run(&s, &r, e);
	/* Its pipes are closed now, so it comes to its end by itself and clears up; killing it would not. */
	reap(c);
	close(s.ended_fd);
	tell_end(c, ret, &r, e);
	return 0;
}

int listen_session(void *options, int fd, int more, const uint8_t token[XF_TOKEN])
{
	struct call c = { .o = options, .more = more };
	struct xf_error e = { 0 };
	int ret;

	/* Read anew for each call: what has changed counts from now on. */
	transport_config_init(&c.config);
	ret = transport_config_load(c.o->config, &c.config, &e);
	if (!ret && !c.o->plain)
		ret = xf_identity_load(&c.identity, c.config.certificate, c.config.key, &e);
	find_helper(&c);
	if (ret)
		close(fd);
	else
		ret = answer(&c, fd, token, &e);
	if (!ret)
		ret = serve(&c, &e);
	if (ret)
		say(&c, "%s", e.text);
	xf_links_close(&c.links);
	xf_identity_free(c.identity);
	transport_config_free(&c.config);
	return ret ? XF_EXIT_FAILED : XF_EXIT_OK;
}
