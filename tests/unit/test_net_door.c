/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who gets in at the listener's door, and for whom it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/net/door.h"
#include "transport/net/link.h"

#define MAX 2u		/* sessions at a time */
#define TOTAL 4u	/* and in all */
#define TRIES 1000	/* the door notices a session's end a little later */

static char port[8];

static void no_log(void *ctx, const char *text)
{
	(void)ctx, (void)text;
}

/* Tells its caller what the door says, and stays until that one hangs up. */
static int session(void *ctx, int fd, int more, const uint8_t token[XF_TOKEN])
{
	struct xf_error e = { 0 };
	int rc = xf_door_let_in(more, &e);
	char word = !rc ? 'y' : rc == -EBUSY && e.text[0] ? 'n' : '?';

	(void)ctx, (void)token;
	send(fd, &word, 1, MSG_NOSIGNAL);
	if (!rc)
		recv(fd, &word, 1, 0);
	return 0;
}

static pid_t open_door(void)
{
	struct xf_error e = { 0 };
	struct xf_door_setup s = {
		.stop_fd = -1, .greet_ms = 10000, .sessions_max = MAX, .sessions_total = TOTAL,
		.session = session, .log = no_log, .listener = xf_tcp_listen("127.0.0.1", "0", &e),
	};
	pid_t pid;

	assert_true(s.listener >= 0);
	snprintf(port, sizeof(port), "%u", xf_tcp_port(s.listener));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a test that failed leaves none */
		_exit(xf_door_run(&s, &e) ? 1 : 0);
	}
	close(s.listener);
	return pid;
}

static int call(char *word)
{
	struct xf_preamble p = { .lane = 0 };
	uint8_t bytes[XF_PREAMBLE];
	struct xf_error e = { 0 };
	int fd = xf_tcp_connect("127.0.0.1", port, 10000, &e);

	assert_true(fd >= 0);
	xf_preamble_encode(&p, bytes);
	assert_int_equal(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
	assert_int_equal(recv(fd, word, 1, 0), 1);
	return fd;
}

static int call_until_let_in(void)
{
	for (int i = 0; i < TRIES; i++) {
		char word;
		int fd = call(&word);

		if (word == 'y')
			return fd;
		assert_int_equal(word, 'n');
		close(fd);
		usleep(1000);
	}
	fail_msg("nobody is let in after a session's end");
	return -1;
}

static void full_and_empty(void **state)
{
	pid_t pid = open_door();
	int in[TOTAL], out, status;
	char word;

	(void)state;
	for (unsigned i = 0; i < MAX; i++) {
		in[i] = call(&word);
		assert_int_equal(word, 'y');
	}
	out = call(&word);
	assert_int_equal(word, 'n');
	close(out);
	for (unsigned i = MAX; i < TOTAL; i++) {
		close(in[i - MAX]);
		in[i] = call_until_let_in();
	}
	/* Those that were turned away are none of the total. */
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	for (unsigned i = TOTAL - MAX; i < TOTAL; i++)
		close(in[i]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void door_is_gone(void **state)
{
	struct xf_error e = { 0 };
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[0]);
	assert_int_equal(xf_door_let_in(pair[1], &e), -ECONNRESET);
	assert_string_not_equal(e.text, "");
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_and_empty),
		cmocka_unit_test(door_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
