/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "netjob.h"

#define REPEATED 64u

/* ---- keys ------------------------------------------------------------------- */

static void make_key(const char *dir, const char *name, struct xf_identity **id)
{
	char line[512], key[128], certificate[128];
	struct xf_error e = { 0 };

	snprintf(key, sizeof(key), "%s/%s.key", dir, name);
	snprintf(certificate, sizeof(certificate), "%s/%s.pem", dir, name);
	snprintf(line, sizeof(line), "%s %s %s", getenv("MAKEKEY"), key, certificate);
	assert_int_equal(system(line), 0);
	assert_int_equal(xf_identity_load(id, certificate, key, &e), 0);
	unlink(key);
	unlink(certificate);
}

static struct xf_identity *identities[2];

static void free_identities(void)
{
	xf_identity_free(identities[0]);
	xf_identity_free(identities[1]);
}

const struct xf_identity *netjob_identity(int other)
{
	char dir[] = "/tmp/xf-net-XXXXXX";

	if (!identities[0]) {
		assert_non_null(mkdtemp(dir));
		make_key(dir, "one", &identities[0]);
		make_key(dir, "two", &identities[1]);
		rmdir(dir);
		atexit(free_identities);
	}
	return identities[other];
}

/* ---- connections --------------------------------------------------------------- */

void netjob_tcp(int fd[2])
{
	struct xf_error e = { 0 };
	int listener = xf_tcp_listen("127.0.0.1", "0", &e);
	char port[8];

	assert_true(listener >= 0);
	snprintf(port, sizeof(port), "%u", xf_tcp_port(listener));
	fd[0] = xf_tcp_connect("127.0.0.1", port, 10000, &e);
	assert_true(fd[0] >= 0);
	do
		fd[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (fd[1] < 0 && (errno == EAGAIN || errno == EINTR));
	assert_true(fd[1] >= 0);
	close(listener);
}

struct middle {
	struct netjob *j;
	int client, server;	/* our ends */
	pthread_t thread;
	int stalled;
	size_t passed[2];
};

static int pass_on(struct middle *m, int backwards)
{
	int from = backwards ? m->server : m->client, to = backwards ? m->client : m->server;
	size_t *passed = &m->passed[backwards];
	uint8_t buf[4096];
	ssize_t n = recv(from, buf, sizeof(buf), 0);
	size_t at = m->j->after - *passed;

	if (n <= 0)
		return -1;
	if (m->j->what != HARMLESS && m->j->backwards == backwards && *passed <= m->j->after &&
	    m->j->after - *passed < (size_t)n) {
		if (m->j->what == ALTER)
			buf[at] ^= 0x10;
		if (m->j->what == CUT || m->j->what == STALL) {
			n = (ssize_t)at;
			m->stalled = m->j->what == STALL;
		}
	}
	if (n && send(to, buf, (size_t)n, MSG_NOSIGNAL) != n)
		return -1;
	*passed += (size_t)n;
	if (m->j->what == REPEAT && m->j->backwards == backwards && *passed > m->j->after) {
		m->j->what = HARMLESS;
		if (send(to, buf, (size_t)n < REPEATED ? (size_t)n : REPEATED, MSG_NOSIGNAL) < 0)
			return -1;
	}
	return m->j->what == CUT && m->j->backwards == backwards && *passed >= m->j->after ? -1 : 0;
}

static void *run_middle(void *arg)
{
	struct middle *m = arg;

	for (;;) {
		struct pollfd p[2] = { { .fd = m->client, .events = m->stalled ? POLLRDHUP : POLLIN },
				       { .fd = m->server, .events = m->stalled ? POLLRDHUP : POLLIN } };

		assert_true(poll(p, 2, 60000) > 0);
		if (m->stalled && ((p[0].revents | p[1].revents) & (POLLRDHUP | POLLHUP | POLLERR)))
			break;
		if ((!m->stalled && p[0].revents && pass_on(m, 0)) || (!m->stalled && p[1].revents && pass_on(m, 1)))
			break;
	}
	/* What each side has yet to read it may still read. */
	shutdown(m->client, SHUT_RDWR);
	shutdown(m->server, SHUT_RDWR);
	return NULL;
}

/* ---- the serving side ----------------------------------------------------------------- */

struct side {
	struct netjob *j;
	struct xf_links links;
	struct xf_session_setup setup;
	pthread_t thread;
	pid_t pid;
	int fd[XF_LANES_MAX];
};

static int status(void *ctx)
{
	struct side *s = ctx;

	if (!s->j->exited)
		assert_int_equal(waitpid(s->pid, &s->j->status, 0), s->pid);
	s->j->exited = 1;
	return WIFEXITED(s->j->status) ? WEXITSTATUS(s->j->status) : 0x100 | WTERMSIG(s->j->status);
}

static void start_command(struct side *s)
{
	int in[2], out[2], err[2];

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	s->pid = fork();
	if (!s->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		signal(SIGPIPE, SIG_DFL);
		execl("/bin/sh", "sh", "-c", s->j->script, NULL);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	s->setup.out[0] = in[1];
	s->setup.out[1] = -1;
	s->setup.in[0] = out[0];
	s->setup.in[1] = err[0];
	s->setup.ended_fd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	assert_true(s->setup.ended_fd >= 0);
	s->setup.status = status;
	s->setup.ctx = s;
}

static int open_links(struct side *s, int serving, struct xf_error *e)
{
	unsigned n = s->j->lanes ? s->j->lanes : 1;
	struct xf_peers peers = { 0 };
	char line[128], text[XF_PIN_TEXT];
	int ret = 0;

	snprintf(line, sizeof(line), "one %s", xf_pin_text(xf_identity_pin(netjob_identity(0)), text));
	assert_int_equal(xf_peers_add(&peers, line, e), 0);
	for (unsigned i = 0; i < n && !ret; i++) {
		struct xf_link *l = &s->links.link[i];

		assert_int_equal(xf_link_open(l, s->fd[i], e), 0);
		s->links.n++;
		l->time_out_ms = s->j->time_out_ms ? (int)s->j->time_out_ms : 20000;
		xf_link_deadline(l, (unsigned)l->time_out_ms);
		if (s->j->tls)
			ret = serving ? xf_link_tls_server(l, netjob_identity(1), &peers, e)
				      : xf_link_tls_client(l, netjob_identity(0),
							   xf_identity_pin(netjob_identity(1)), e);
		xf_link_deadline(l, 0);
	}
	xf_peers_free(&peers);
	s->setup.links = s->links.link;
	s->setup.n_links = s->links.n;
	s->setup.codecs = 7;
	s->setup.codec = s->j->codec;
	s->setup.bandwidth = s->j->bandwidth;
	s->setup.keep_alive_ms = s->j->keep_alive_ms ? s->j->keep_alive_ms : 1000;
	return ret;
}

static void *run_server(void *arg)
{
	struct side *s = arg;
	struct netjob *j = s->j;

	s->setup = (struct xf_session_setup){ .ended_fd = -1 };
	j->server.ret = open_links(s, 1, &j->server.error);
	if (!j->server.ret) {
		start_command(s);
		j->server.ret = xf_session_run(&s->setup, &j->server.result, &j->server.error);
		status(s);	/* its pipes are closed: it ends by itself */
		close(s->setup.ended_fd);
	}
	xf_links_close(&s->links);
	return NULL;
}

static void *run_client(void *arg)
{
	struct side *s = arg;
	struct netjob *j = s->j;

	j->client.ret = open_links(s, 0, &j->client.error);
	if (!j->client.ret) {
		j->client.ret = xf_session_run(&s->setup, &j->client.result, &j->client.error);
	} else {
		close(s->setup.in[0]);
		close(s->setup.out[0]);
		close(s->setup.out[1]);
	}
	xf_links_close(&s->links);
	return NULL;
}

/* ---- who called ---------------------------------------------------------------------------- */

struct feeder {
	struct netjob *j;
	int fd;
	pthread_t thread;
};

static void *feed(void *arg)
{
	struct feeder *f = arg;
	size_t at = 0;

	for (;;) {
		ssize_t n;

		if (at == f->j->input_len) {
			if (!f->j->endless)
				break;
			at = 0;
		}
		n = write(f->fd, f->j->input + at, f->j->input_len - at);
		if (n < 0)
			break;
		at += (size_t)n;
	}
	if (!f->j->hold_input)
		close(f->fd);
	return NULL;
}

static void read_all(int fd[2], char *to[2], size_t room)
{
	size_t have[2] = { 0, 0 };

	while (fd[0] >= 0 || fd[1] >= 0) {
		struct pollfd p[2] = { { .fd = fd[0], .events = POLLIN }, { .fd = fd[1], .events = POLLIN } };

		assert_true(poll(p, 2, 80000) > 0);
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (!p[i].revents)
				continue;
			assert_true(have[i] < room - 1);
			n = read(fd[i], to[i] + have[i], room - 1 - have[i]);
			if (n > 0) {
				have[i] += (size_t)n;
				continue;
			}
			close(fd[i]);
			fd[i] = -1;
		}
	}
}

static void connect_sides(struct netjob *j, struct side *client, struct side *server, struct middle *m)
{
	for (unsigned i = 0; i < (j->lanes ? j->lanes : 1); i++) {
		int one[2], two[2];

		netjob_tcp(one);
		client->fd[i] = one[0];
		if (i) {
			server->fd[i] = one[1];
			continue;
		}
		netjob_tcp(two);
		*m = (struct middle){ .j = j, .client = one[1], .server = two[0] };
		server->fd[0] = two[1];
	}
}

void netjob_run(struct netjob *j)
{
	struct side client = { .j = j }, server = { .j = j };
	struct feeder feeder = { .j = j };
	struct middle middle;
	int in[2], out[2], err[2], outputs[2];
	char *texts[2] = { j->out, j->err };

	signal(SIGPIPE, SIG_IGN);
	netjob_identity(0);
	connect_sides(j, &client, &server, &middle);
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	client.setup = (struct xf_session_setup){ .in = { in[0], -1 }, .out = { out[1], err[1] }, .ended_fd = -1 };
	feeder.fd = in[1];
	outputs[0] = out[0];
	outputs[1] = err[0];
	if (j->close_output) {
		close(out[0]);
		outputs[0] = -1;
	}
	pthread_create(&middle.thread, NULL, run_middle, &middle);
	pthread_create(&server.thread, NULL, run_server, &server);
	pthread_create(&client.thread, NULL, run_client, &client);
	pthread_create(&feeder.thread, NULL, feed, &feeder);
	read_all(outputs, texts, sizeof(j->out));
	pthread_join(client.thread, NULL);
	pthread_join(server.thread, NULL);
	pthread_join(feeder.thread, NULL);
	pthread_join(middle.thread, NULL);
	if (j->hold_input)
		close(in[1]);
	close(middle.client);
	close(middle.server);
	memcpy(j->passed, middle.passed, sizeof(j->passed));
}

void netjob_raw(struct netjob *j, int serving, const void *bytes, size_t len, int stay)
{
	struct side side = { .j = j };
	int fd[2], in[2], out[2], err[2], outputs[2];
	char *texts[2] = { j->out, j->err }, drop[4096];

	signal(SIGPIPE, SIG_IGN);
	netjob_identity(0);
	netjob_tcp(fd);
	side.fd[0] = fd[0];
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	if (serving) {
		close(in[0]);
		close(out[1]);
		close(err[1]);
	} else {
		side.setup = (struct xf_session_setup){ .in = { in[0], -1 }, .out = { out[1], err[1] },
							.ended_fd = -1 };
	}
	outputs[0] = out[0];
	outputs[1] = err[0];
	pthread_create(&side.thread, NULL, serving ? run_server : run_client, &side);
	if (len)
		assert_int_equal(send(fd[1], bytes, len, MSG_NOSIGNAL), (ssize_t)len);
	if (!stay)
		shutdown(fd[1], SHUT_WR);
	while (recv(fd[1], drop, sizeof(drop), 0) > 0)
		;
	read_all(outputs, texts, sizeof(j->out));
	pthread_join(side.thread, NULL);
	close(fd[1]);
	close(in[1]);
}
