/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exact reads and writes over descriptors that are interrupted, slow, full or gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/transport.h"

#define SIZE (3u << 20)	/* much more than a pipe holds */

static uint8_t *data;

static int make_data(void **state)
{
	(void)state;
	data = malloc(SIZE);
	for (size_t i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(i * 2654435761u >> 13);
	return 0;
}

static int free_data(void **state)
{
	(void)state;
	free(data);
	return 0;
}

static void nothing(int signo)
{
	(void)signo;
}

/* A signal every millisecond, without SA_RESTART. */
static void alarms(int on)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct itimerval t = { { 0, on ? 1000 : 0 }, { 0, on ? 1000 : 0 } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* Odd pieces, empty ones and ones that touch among them. */
static size_t pieces(struct iovec *iov, uint8_t *p, size_t len)
{
	size_t n = 0, at = 0;

	for (size_t step = 1; at < len; step = step * 7 % 9973 + 1) {
		size_t k = step < len - at ? step : len - at;

		iov[n++] = (struct iovec){ p + at, k };
		if (n % 5 == 0)
			iov[n++] = (struct iovec){ NULL, 0 };
		at += k;
	}
	return n;
}

static void pipe_pair(int fd[2], int flags)
{
	assert_int_equal(pipe2(fd, O_CLOEXEC | flags), 0);
}

static void test_large(void **state)
{
	static const int flags[] = { 0, O_NONBLOCK };
	struct iovec *iov = malloc(sizeof(*iov) * 20000);
	uint8_t *got = malloc(SIZE);
	(void)state;

	for (int i = 0; i < 2; i++) {
		struct xf_transport_fd in, out;
		int fd[2], status;
		size_t have;
		pid_t pid;

		memset(got, 0, SIZE);
		pipe_pair(fd, flags[i]);
		pid = fork();
		if (!pid) {
			alarms(1);
			xf_transport_fd_init(&out, fd[1]);
			_exit(xf_transport_writev(&out.base, iov, pieces(iov, data, SIZE)) != 0 ||
			      out.base.bytes_written != SIZE);
		}
		close(fd[1]);
		alarms(1);
		xf_transport_fd_init(&in, fd[0]);
		assert_int_equal(xf_transport_readv(&in.base, iov, pieces(iov, got, SIZE), &have), 0);
		alarms(0);
		assert_int_equal(have, SIZE);
		assert_int_equal(in.base.bytes_read, SIZE);
		assert_memory_equal(got, data, SIZE);
		/* and then the end, apart from any error */
		assert_int_equal(xf_transport_read(&in.base, got, 1, &have), -ENODATA);
		assert_int_equal(have, 0);
		close(fd[0]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	free(got);
	free(iov);
}

static void test_end_in_the_middle(void **state)
{
	struct xf_transport_fd t;
	uint8_t buf[100];
	size_t have;
	int fd[2];
	(void)state;

	pipe_pair(fd, 0);
	assert_int_equal(write(fd[1], "forty-two", 9), 9);
	close(fd[1]);
	xf_transport_fd_init(&t, fd[0]);
	assert_int_equal(xf_transport_read(&t.base, buf, sizeof(buf), &have), -ENODATA);
	assert_int_equal(have, 9);
	assert_int_equal(t.base.bytes_read, 9);
	close(fd[0]);
	assert_int_equal(xf_transport_read(&t.base, buf, 1, &have), -EBADF);
	assert_int_equal(xf_transport_write(&t.base, buf, 1), -EBADF);
}

static void test_reader_gone(void **state)
{
	struct xf_transport_fd t;
	int fd[2];
	(void)state;

	signal(SIGPIPE, SIG_IGN);
	pipe_pair(fd, 0);
	close(fd[0]);
	xf_transport_fd_init(&t, fd[1]);
	assert_int_equal(xf_transport_write(&t.base, data, 100), -EPIPE);
	assert_int_equal(t.base.bytes_written, 0);
	close(fd[1]);
	xf_transport_fd_init(&t, open("/dev/full", O_WRONLY | O_CLOEXEC));
	assert_int_equal(xf_transport_write(&t.base, data, 100), -ENOSPC);
	close(t.fd);
}

static void test_nothing_to_do(void **state)
{
	struct xf_transport_fd t;
	size_t have = 7;
	(void)state;

	xf_transport_fd_init(&t, -1);
	assert_int_equal(xf_transport_readv(&t.base, NULL, 0, &have), 0);
	assert_int_equal(have, 0);
	assert_int_equal(xf_transport_read(&t.base, NULL, 0, NULL), 0);
	assert_int_equal(xf_transport_write(&t.base, NULL, 0), 0);
}

static void test_peek(void **state)
{
	struct xf_transport_mem m;
	struct xf_transport_peek p;
	uint8_t buf[64];
	size_t have;
	(void)state;

	xf_transport_mem_init(&m, data, 20);
	m.step = 3;
	assert_int_equal(xf_transport_peek_init(&p, &m.base), 0);
	assert_memory_equal(p.head, data, 8);
	assert_int_equal(p.base.bytes_read, 0);
	assert_int_equal(xf_transport_read(&p.base, buf, 5, NULL), 0);
	assert_int_equal(xf_transport_read(&p.base, buf + 5, 15, NULL), 0);
	assert_memory_equal(buf, data, 20);
	assert_int_equal(p.base.bytes_read, 20);
	assert_int_equal(xf_transport_write(&p.base, "x", 1), 0);
	assert_int_equal(m.size, 21);
	xf_transport_mem_free(&m);

	xf_transport_mem_init(&m, data, 5);
	assert_int_equal(xf_transport_peek_init(&p, &m.base), -ENODATA);
	assert_int_equal(xf_transport_read(&p.base, buf, 8, &have), -ENODATA);
	assert_int_equal(have, 5);
	assert_memory_equal(buf, data, 5);
	xf_transport_mem_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_end_in_the_middle),
		cmocka_unit_test(test_reader_gone),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_peek),
	};

	return cmocka_run_group_tests(tests, make_data, free_data);
}
