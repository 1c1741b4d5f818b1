/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry connect and xenferry listen as a user has them, with an xl that is a shell script. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd_transport.h"
#include "runcmd.h"

static char dir[] = "/tmp/xf-ferry-XXXXXX";
static char pins[3][128];
static const char *const hosts[] = { "here", "there", "stranger" };
static struct ran r;

struct listener {
	pid_t pid;
	FILE *log;
	unsigned port;
	char said[8192];
};

static const char *file(const char *name)
{
	static char path[4][128];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

static void write_text(const char *name, const char *fmt, ...)
{
	FILE *f = fopen(file(name), "w");
	va_list args;

	assert_non_null(f);
	va_start(args, fmt);
	vfprintf(f, fmt, args);
	va_end(args);
	fclose(f);
}

static void write_config(const char *host, const char *peers)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.conf", host);
	write_text(name, "tls-key = %s/%s.key\ntls-certificate = %s/%s.pem\n%s\n", dir, host, dir, host, peers);
}

static int make_hosts(void **state)
{
	char command[512];
	(void)state;

	assert_non_null(mkdtemp(dir));
	setenv("XENFERRY_RUN", dir, 1);
	for (int i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), "%s %s/%s.key %s/%s.pem", getenv("MAKEKEY"), dir, hosts[i], dir,
			 hosts[i]);
		assert_int_equal(system(command), 0);
		write_config(hosts[i], "");
		snprintf(command, sizeof(command), "%s.conf", hosts[i]);
		RUN(&r, "listen", "--pin", "--config", file(command));
		assert_ran(&r, 0, "sha256:", "");
		r.out[strcspn(r.out, "\n")] = '\0';
		strcpy(pins[i], r.out);
	}
	write_text("xl", "#!/bin/sh\ntrap '' PIPE\necho started >>%s/runs\ntrap 'echo ended >>%s/runs' 0\n"
		   "echo \"$*|$XENFERRY_PEER|$LIBXL_SAVE_HELPER\"\ncksum\necho from xl >&2\nexit ${XL_EXIT:-0}\n", dir, dir);
	assert_int_equal(system((snprintf(command, sizeof(command), "chmod +x %s/xl; cp %s/xl %s/helper", dir, dir,
					  dir), command)), 0);
	return 0;
}

static int remove_hosts(void **state)
{
	char command[128];
	(void)state;

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* ---- a listener ------------------------------------------------------------------ */

static void start_listener(struct listener *l, const char *peers, const char *plain)
{
	const char *command = getenv("XENFERRY");
	char path[512];
	int err[2];

	write_config("there", peers);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	l->pid = fork();
	if (!l->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a test that failed leaves none */
		dup2(err[1], 2);
		snprintf(path, sizeof(path), "%s:%s", dir, getenv("PATH"));
		setenv("PATH", path, 1);
		setenv("XENFERRY_HELPER", file("helper"), 1);
		setenv("XL_EXIT", "7", 1);
		execl(command, "xenferry", "listen", "--config", file("there.conf"), "--listen", "127.0.0.1:0", plain,
		      NULL);
		_exit(126);
	}
	close(err[1]);
	l->log = fdopen(err[0], "r");
	assert_non_null(fgets(l->said, sizeof(l->said), l->log));
	assert_int_equal(sscanf(l->said, "xenferry listen: listening on 127.0.0.1, port %u", &l->port), 1);
	unlink(file("runs"));
}

/* Until it has said that. */
static void wait_for(struct listener *l, const char *text)
{
	do
		if (!fgets(l->said, sizeof(l->said), l->log))
			fail_msg("the listener never said \"%s\"", text);
	while (!strstr(l->said, text));
}

static void stop_listener(struct listener *l)
{
	int status;

	kill(l->pid, SIGTERM);
	assert_int_equal(waitpid(l->pid, &status, 0), l->pid);
	assert_int_equal(status, 0);
	while (fgets(l->said, sizeof(l->said), l->log))
		assert_null(strstr(l->said, "Sanitizer"));
	fclose(l->log);
}

static void know(const char *host, const char *pin, unsigned port)
{
	char peers[256];

	snprintf(peers, sizeof(peers), "peer = there %s 127.0.0.1:%u", pin, port);
	write_config(host, peers);
}

static const char *peer_here(void)
{
	static char line[256];

	snprintf(line, sizeof(line), "peer = here %s", pins[0]);
	return line;
}

static int runs(const char *what)
{
	char command[256];
	FILE *f;
	int n = 0;

	snprintf(command, sizeof(command), "grep -c %s %s/runs 2>/dev/null", what, dir);
	f = popen(command, "r");
	if (fscanf(f, "%d", &n) != 1)
		n = 0;
	pclose(f);
	return n;
}

/* ---- what goes well --------------------------------------------------------------- */

static void test_migration(void **state)
{
	char expected[256];
	struct listener l;
	(void)state;

	start_listener(&l, peer_here(), NULL);
	know("here", pins[1], l.port);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "-t", "-vvv", "migrate-receive", "-e", "-p");
	snprintf(expected, sizeof(expected), "-t -vvv migrate-receive -e -p|version=" XENFERRY_VERSION
		 " features=0x0|%s/helper\n4294967295 0\n", dir);
	assert_ran(&r, 7, expected, "from xl\n");
	wait_for(&l, "here: xl ended with exit status 7");
	RUN(&r, "connect", "-v", "--connections", "3", "--compress", "zstd", "--bandwidth", "100M", "--config",
	    file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 7, "4294967295 0\n", "from xl\n");
	assert_ran(&r, 7, "", "xenferry connect: sent 0 bytes");
	wait_for(&l, "3 connections, TLS");
	stop_listener(&l);
}

static void test_plain(void **state)
{
	struct listener l;
	char address[64];
	(void)state;

	start_listener(&l, "peer = here plain 127.0.0.1", "--plain");
	snprintf(address, sizeof(address), "127.0.0.1:%u", l.port);
	RUN(&r, "connect", "--plain", "--config", file("nowhere"), address, "xl", "migrate-receive");
	assert_ran(&r, 7, "4294967295 0\n", "from xl\n");
	/* TLS is never left out unasked. */
	know("here", pins[1], l.port);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "there: ");
	assert_int_equal(runs("started"), 1);
	stop_listener(&l);
	/* Nor let in: a listener with TLS, a caller without. */
	start_listener(&l, peer_here(), NULL);
	snprintf(address, sizeof(address), "127.0.0.1:%u", l.port);
	RUN(&r, "connect", "--plain", "--config", file("nowhere"), address, "xl", "migrate-receive");
	assert_ran(&r, 255, "", address);
	wait_for(&l, "no TLS 1.3");
	assert_int_equal(runs("started"), 0);
	stop_listener(&l);
	/* By address means by address. */
	start_listener(&l, "peer = other plain 192.0.2.1", "--plain");
	snprintf(address, sizeof(address), "127.0.0.1:%u", l.port);
	RUN(&r, "connect", "--plain", "--config", file("nowhere"), address, "xl", "migrate-receive");
	assert_ran(&r, 255, "", address);
	wait_for(&l, "Found a call from 127.0.0.1");
	assert_int_equal(runs("started"), 0);
	stop_listener(&l);
}

/* What stands in the file counts unless the command line says otherwise. */
static void test_from_the_file(void **state)
{
	struct xf_error e = { 0 };
	struct listener l;
	char lines[512];
	int fd;
	(void)state;

	start_listener(&l, peer_here(), NULL);
	snprintf(lines, sizeof(lines), "peer = there %s 127.0.0.1:%u\ntransport-connections = 2\n"
		 "transport-compress = zstd\ntransport-bandwidth = 100M\ntransport-keep-alive = 1\n"
		 "transport-time-out = 9\n", pins[1], l.port);
	write_config("here", lines);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 7, "4294967295 0\n", "");
	wait_for(&l, "2 connections, TLS");
	RUN(&r, "connect", "--connections", "4", "--keep-alive", "2", "--config", file("here.conf"), "there", "xl",
	    "migrate-receive");
	assert_ran(&r, 7, "4294967295 0\n", "");
	wait_for(&l, "4 connections, TLS");
	stop_listener(&l);

	fd = xf_tcp_listen("127.0.0.1", "0", &e);
	snprintf(lines, sizeof(lines), "peer = there %s 127.0.0.1:%u\ntransport-time-out = 0.1", pins[1],
		 xf_tcp_port(fd));
	write_config("here", lines);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "until the time-out");
	close(fd);
}

/* ---- strangers ---------------------------------------------------------------------- */

static void test_wrong_keys(void **state)
{
	struct listener l;
	(void)state;

	start_listener(&l, peer_here(), NULL);
	know("here", pins[2], l.port);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "it is another host that answers");
	wait_for(&l, "doesn't accept this host's key");
	know("stranger", pins[1], l.port);
	RUN(&r, "connect", "--config", file("stranger.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "doesn't accept this host's key");
	wait_for(&l, "expected that of a peer");
	assert_int_equal(runs("started"), 0);
	/* A peer that is taken out of the file is out. */
	know("here", pins[1], l.port);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_int_equal(r.status, 7);
	write_config("there", "peer = nobody plain");
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "doesn't accept this host's key");
	assert_int_equal(runs("started"), 1);
	stop_listener(&l);
}

static int call(const struct listener *l)
{
	struct xf_error e = { 0 };
	char port[8];
	int fd;

	snprintf(port, sizeof(port), "%u", l->port);
	fd = xf_tcp_connect("127.0.0.1", port, 10000, &e);
	assert_true(fd >= 0);
	return fd;
}

static void hear_the_end(int fd)
{
	char drop[4096];

	while (recv(fd, drop, sizeof(drop), 0) > 0)
		;
	close(fd);
}

static void say(const struct listener *l, const void *bytes, size_t len)
{
	int fd = call(l);

	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
	shutdown(fd, SHUT_WR);
	hear_the_end(fd);
}

static void test_garbage(void **state)
{
	struct xf_preamble p = { .lane = 0 };
	uint8_t bytes[512];
	struct listener l;
	int idle[160];
	(void)state;

	start_listener(&l, peer_here(), NULL);
	know("here", pins[1], l.port);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
	say(&l, "", 0);
	say(&l, bytes, 5);
	say(&l, bytes, sizeof(bytes));
	wait_for(&l, "began with other bytes");
	xf_preamble_encode(&p, bytes);		/* a session, and then garbage */
	say(&l, bytes, sizeof(bytes));
	wait_for(&l, "no TLS 1.3");
	p.lane = 1;				/* of a session that there isn't */
	xf_preamble_encode(&p, bytes);
	say(&l, bytes, sizeof(bytes));
	wait_for(&l, "belongs to no session");
	/* Many that say nothing, from the beginning or after that, don't keep others out. */
	p.lane = 0;
	xf_preamble_encode(&p, bytes);
	for (size_t i = 0; i < 160; i++) {
		idle[i] = call(&l);
		if (i < 80)
			assert_int_equal(send(idle[i], bytes, XF_PREAMBLE, MSG_NOSIGNAL), XF_PREAMBLE);
	}
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_int_equal(r.status, 7);
	for (size_t i = 0; i < 160; i++)
		close(idle[i]);
	assert_int_equal(runs("started"), 1);
	stop_listener(&l);
}

/* So many sessions of peers. */
static void test_sessions(void **state)
{
	struct xf_preamble p = { .lane = 0 };
	uint8_t bytes[XF_PREAMBLE];
	struct listener l;
	int status;
	(void)state;

	start_listener(&l, peer_here(), "--sessions=1");
	know("here", pins[1], l.port);
	xf_preamble_encode(&p, bytes);		/* a stranger's, which isn't one of them */
	say(&l, bytes, sizeof(bytes));
	wait_for(&l, "a caller");
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_int_equal(r.status, 7);
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid);
	assert_int_equal(status, 0);
	fclose(l.log);
}

/* Records what a caller sends, and sends it once more: no second session comes of it. */
static void test_replayed(void **state)
{
	static uint8_t recorded[1 << 16];
	struct running_command c;
	struct xf_error e = { 0 };
	struct listener l;
	size_t len = 0;
	int front, caller, back;
	(void)state;

	start_listener(&l, peer_here(), NULL);
	front = xf_tcp_listen("127.0.0.1", "0", &e);
	know("here", pins[1], xf_tcp_port(front));
	run_begin(&c, (const char *const[]){ "connect", "--config", file("here.conf"), "there", "xl",
					     "migrate-receive", NULL }, -1, 0);
	do
		caller = accept(front, NULL, NULL);
	while (caller < 0 && errno == EAGAIN);
	back = call(&l);
	for (;;) {
		struct pollfd p[2] = { { .fd = caller, .events = POLLIN }, { .fd = back, .events = POLLIN } };
		uint8_t buf[4096];
		ssize_t n = 0;

		assert_true(poll(p, 2, 60000) > 0);
		for (int i = 0; i < 2 && n >= 0; i++) {
			if (!p[i].revents)
				continue;
			n = recv(p[i].fd, buf, sizeof(buf), 0);
			if (n <= 0)
				n = -1;
			else if (send(p[1 - i].fd, buf, (size_t)n, MSG_NOSIGNAL) == n && !i) {
				assert_true(len + (size_t)n <= sizeof(recorded));
				memcpy(recorded + len, buf, (size_t)n);
				len += (size_t)n;
			}
		}
		if (n < 0)
			break;
	}
	close(caller);
	close(back);
	close(front);
	run_end(&c, &r);
	assert_ran(&r, 7, "4294967295 0\n", "from xl\n");
	assert_true(len > 500);
	say(&l, recorded, len);
	wait_for(&l, "a caller: ");
	assert_int_equal(runs("started"), 1);
	stop_listener(&l);
}

/* ---- ends in the middle ------------------------------------------------------------------ */

/* A listener, and a caller whose input comes from in[1]. */
static void begin_call(struct listener *l, struct running_command *c, int in[2])
{
	start_listener(l, peer_here(), NULL);
	know("here", pins[1], l->port);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	run_begin(c, (const char *const[]){ "connect", "--config", file("here.conf"), "there", "xl",
					    "migrate-receive", NULL }, in[0], 0);
}

/* The caller is killed while its command runs: that one sees the end of its input, and ends by itself. */
static void test_caller_killed(void **state)
{
	struct running_command c;
	struct listener l;
	int in[2];
	(void)state;

	begin_call(&l, &c, in);
	assert_int_equal(write(in[1], "some", 4), 4);
	wait_for(&l, "migrate-receive begins");
	kill(c.pid, SIGKILL);
	run_end(&c, &r);
	assert_int_equal(r.status, 128 + SIGKILL);
	wait_for(&l, "the session failed");
	wait_for(&l, "xl ended with exit status");
	assert_int_equal(runs("ended"), 1);
	close(in[0]);
	close(in[1]);
	stop_listener(&l);
}

/* So does one whose listener has been told to end: it is finished first. */
static void test_listener_told_to_end(void **state)
{
	struct running_command c;
	struct listener l;
	int in[2], status;
	(void)state;

	begin_call(&l, &c, in);
	close(in[0]);
	wait_for(&l, "migrate-receive begins");
	kill(l.pid, SIGTERM);
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid);
	assert_int_equal(status, 0);
	close(in[1]);
	run_end(&c, &r);
	assert_ran(&r, 7, "4294967295 0\n", "from xl\n");
	wait_for(&l, "xl ended with exit status 7");
	fclose(l.log);
}

static void test_nobody_there(void **state)
{
	struct xf_error e = { 0 };
	int fd = xf_tcp_listen("127.0.0.1", "0", &e);
	unsigned port = xf_tcp_port(fd);
	(void)state;

	know("here", pins[1], port);
	/* It takes the call and says nothing. */
	RUN(&r, "connect", "--time-out", "0.1", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "until the time-out");
	close(fd);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive");
	assert_ran(&r, 255, "", "(Connection refused): expected \"xenferry listen\" to answer");
}

/* ---- what is let in -------------------------------------------------------------------------- */

static int is_allowed(const char *const words[], struct xf_error *e)
{
	struct xf_hello h = { .lanes = 1 };
	int ret;

	for (; *words; words++)
		assert_int_equal(xf_hello_add_word(&h, *words), 0);
	*e = (struct xf_error){ 0 };
	ret = listen_command_allowed(&h, e);
	assert_int_equal(!ret, !e->text[0]);
	return !ret;
}
#define ALLOWED(...) is_allowed((const char *const[]){ __VA_ARGS__, NULL }, &e)

static void test_allowed(void **state)
{
	static const char *const bad[] = {
		"", "xl", "sh", "-r", "--colo", "--coloft-script=/bin/sh", "--userspace-colo-proxy", "-eF", "-dp", "-ed",
		"--", "-", "-v;id", "-vx", "-vvvvvvvvv", "-N", "list", "migrate-receive", "-e ", " -e", "--debug", "-h",
		"$(id)", "\n", "-f", "create",
	};
	struct xf_error e;
	(void)state;

	assert_true(ALLOWED("xl", "migrate-receive"));
	assert_true(ALLOWED("xl", "-t", "-T", "-vvv", "migrate-receive", "-e", "-d", "-p", "-F"));
	assert_false(is_allowed((const char *const[]){ NULL }, &e));
	assert_false(ALLOWED("xl"));
	assert_false(ALLOWED("/usr/sbin/xl", "migrate-receive"));
	assert_false(ALLOWED("sh", "-c", "xl migrate-receive"));
	assert_false(ALLOWED("xl migrate-receive"));
	assert_false(ALLOWED("env", "xl", "migrate-receive"));
	assert_false(ALLOWED("xl", "-e", "migrate-receive"));
	assert_false(ALLOWED("xl", "migrate-receive", "-t"));
	assert_false(ALLOWED("\033[31m", "x"));
	assert_null(strchr(e.text, '\033'));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(ALLOWED("xl", "migrate-receive", bad[i]));
		assert_false(ALLOWED("xl", "migrate-receive", "-e", bad[i]));
		if (strcmp(bad[i], "migrate-receive"))
			assert_false(ALLOWED("xl", bad[i], "migrate-receive"));
		if (strcmp(bad[i], "xl"))
			assert_false(ALLOWED(bad[i], "migrate-receive"));
	}
}

static void test_refused(void **state)
{
	struct listener l;
	(void)state;

	start_listener(&l, peer_here(), NULL);
	know("here", pins[1], l.port);
	RUN(&r, "connect", "--config", file("here.conf"), "there", "id");
	assert_ran(&r, 255, "", "The other side refuses: found \"id\" in the command");
	RUN(&r, "connect", "--config", file("here.conf"), "there", "xl", "migrate-receive", "--coloft-script", "id");
	assert_ran(&r, 255, "", "The other side refuses: found \"--coloft-script\"");
	assert_int_equal(runs("started"), 0);
	stop_listener(&l);
}

/* ---- mistakes of the user ---------------------------------------------------------------------- */

static void test_usage(void **state)
{
	(void)state;
	RUN(&r, "connect", "--help");
	assert_ran(&r, 0, "usage: xl migrate -s 'xenferry connect", "");
	RUN(&r, "listen", "--help");
	assert_ran(&r, 0, "usage: xenferry listen", "");
	RUN(&r, "connect");
	assert_ran(&r, 2, "", "found 0 arguments, expected a host and a command");
	RUN(&r, "connect", "host");
	assert_ran(&r, 2, "", "found 1 arguments");
	RUN(&r, "connect", "--nonsense", "host", "x");
	assert_ran(&r, 2, "", "--nonsense");
	write_config("here", "");
	RUN(&r, "connect", "--config", file("here.conf"), "--compress", "gzip", "host", "x");
	assert_ran(&r, 2, "", "--compress: found \"gzip\", expected auto, none, lz4 or zstd");
	RUN(&r, "connect", "--config", file("here.conf"), "--connections", "17", "host", "x");
	assert_ran(&r, 2, "", "expected a number from 1 to 16");
	RUN(&r, "connect", "--config", file("here.conf"), "--bandwidth", "10K", "host", "x");
	assert_ran(&r, 2, "", "expected bytes a second");
	RUN(&r, "connect", "--config", file("here.conf"), "--time-out", "0", "host", "x");
	assert_ran(&r, 2, "", "expected seconds");
	RUN(&r, "connect", "--config", file("here.conf"), "host", "x");
	assert_ran(&r, 255, "", "Found no pin for \"host\"");
	RUN(&r, "connect", "--config", file("nowhere"), "host", "x");
	assert_ran(&r, 255, "", "expected the configuration");
	RUN(&r, "listen", "more");
	assert_ran(&r, 2, "", "expected options only");
	RUN(&r, "listen", "--sessions", "0");
	assert_ran(&r, 2, "", "found \"0\" for --sessions, expected a whole number from 1");
}

static void config_refused(const char *line, const char *sentence)
{
	write_config("here", line);
	RUN(&r, "listen", "--config", file("here.conf"));
	assert_ran(&r, 3, "", sentence);
	RUN(&r, "connect", "--config", file("here.conf"), "host", "x");
	assert_ran(&r, 255, "", sentence);
}

static void test_configuration(void **state)
{
	struct xf_error e = { 0 };
	int fd = xf_tcp_listen("127.0.0.1", "0", &e);
	char address[64];
	(void)state;

	config_refused("peer = host", "here.conf line 3 (peer): found fewer than two words");
	config_refused("nonsense", "here.conf line 3: found no \"=\"");
	config_refused("listen = host:", "(listen): found \"host:\"");
	config_refused("transport-compress = maybe", "(transport-compress): found \"maybe\"");
	config_refused("transport-connections = 0", "(transport-connections): found \"0\"");
	config_refused("transport-bandwidth = fast", "(transport-bandwidth): found \"fast\"");
	config_refused("transport-keep-alive = -1", "(transport-keep-alive): found \"-1\"");
	config_refused("transport-time-out = 0", "(transport-time-out): found \"0\"");
	write_config("here", "# nobody\nunknown = key");
	RUN(&r, "listen", "--config", file("here.conf"));
	assert_ran(&r, 3, "", "expected one for each host that may come in");
	write_config("here", "peer = host plain");
	RUN(&r, "listen", "--config", file("here.conf"));
	assert_ran(&r, 3, "", "Found no line \"peer = NAME sha256:PIN\"");
	write_config("here", peer_here());
	snprintf(address, sizeof(address), "127.0.0.1:%u", xf_tcp_port(fd));
	RUN(&r, "listen", "--config", file("here.conf"), "--listen", address);
	assert_ran(&r, 3, "", "Address already in use");
	RUN(&r, "listen", "--config", file("here.conf"), "--listen", "nowhere.invalid:1");
	assert_ran(&r, 3, "", "Found no address");
	close(fd);
	write_text("here.conf", "tls-key = %s/nowhere\npeer = a %s\n", dir, pins[1]);
	RUN(&r, "listen", "--config", file("here.conf"));
	assert_ran(&r, 3, "", "expected this host's private key");
	RUN(&r, "listen", "--pin", "--config", file("here.conf"));
	assert_ran(&r, 3, "", "expected this host's private key");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_from_the_file),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_wrong_keys),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_replayed),
		cmocka_unit_test(test_caller_killed),
		cmocka_unit_test(test_listener_told_to_end),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_configuration),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, make_hosts, remove_hosts);
}
