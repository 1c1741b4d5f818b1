// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES_A_SECOND 20

/*
 * A lock of the open file, not of the process: parent and guard hold it
 * together, and it ends with the last of them.
 */
static int lock(const char *file, uint32_t number, unsigned seconds)
{
	struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1 };
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; fcntl(fd, F_OFD_SETLK, &range); i++) {
		int rc = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;

		if (rc != -EBUSY || i >= seconds * TRIES_A_SECOND) {
			close(fd);
			return rc;
		}
		usleep(1000000 / TRIES_A_SECOND);
	}
	return fd;
}

static void close_all_but(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low)
		close_range(0, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

#define WORD_DONE 1	/* nothing is left to undo */
#define WORD_UNDO 2

static _Noreturn void watch(int end, int lock_fd, uint32_t number, guard_undo undo, void *data)
{
	static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
	ssize_t n;
	char word;

	/* What ends the parent's group must not end the guard. */
	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "xenferry-guard");
	/* The parent's peers wait for the ends of its pipes. */
	close_all_but(end, lock_fd);
	do
		n = read(end, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		undo(number, GUARD_KILLED, data);
	else if (word == WORD_UNDO)
		undo(number, GUARD_ASKED, data);
	_exit(0);
}

int guard_start(struct guard *g, const char *file, uint32_t number, unsigned seconds,
		guard_undo undo, void *data)
{
	int fds[2], rc;

	*g = (struct guard) { .end = -1, .lock = -1 };
	g->lock = lock(file, number, seconds);
	if (g->lock < 0)
		return g->lock;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		rc = -errno;
		close(g->lock);
		return rc;
	}
	g->pid = fork();
	if (g->pid < 0) {
		rc = -errno;
		g->pid = 0;
		close(fds[0]);
		close(fds[1]);
		close(g->lock);
		return rc;
	}
	if (!g->pid) {
		close(fds[1]);
		watch(fds[0], g->lock, number, undo, data);
	}
	close(fds[0]);
	g->end = fds[1];
	return 0;
}

static int say(struct guard *g, char word)
{
	ssize_t n;

	do
		n = send(g->end, &word, 1, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int guard_hand_over(struct guard *g)
{
	int rc = g->pid ? say(g, WORD_UNDO) : -ESRCH;

	if (rc)
		return rc;
	close(g->end);
	close(g->lock);
	g->pid = 0;
	return 0;
}

void guard_end(struct guard *g)
{
	if (!g->pid)
		return;
	say(g, WORD_DONE);	/* the guard may be gone */
	close(g->end);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(g->lock);
	g->pid = 0;
}
