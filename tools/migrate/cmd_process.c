/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_migrate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int process_status(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static void child(char *const argv[], int out, int err)
{
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Reads both to their ends; what doesn't fit is dropped. */
static void collect(int out, int err, struct captured *c)
{
	struct pollfd p[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
	char *to[2] = { c->out, c->err };
	size_t have[2] = { 0, 0 };
	char drop[1024];

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2; i++) {
			size_t room = sizeof(c->out) - 1 - have[i];
			ssize_t n;

			if (p[i].fd < 0 || !p[i].revents)
				continue;
			n = read(p[i].fd, room ? to[i] + have[i] : drop, room ? room : sizeof(drop));
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				p[i].fd = -1;
			else if (room)
				have[i] += (size_t)n;
		}
	}
	c->out[have[0]] = '\0';
	c->err[have[1]] = '\0';
}

int process_capture(char *const argv[], struct captured *c)
{
	int out[2], err[2], status = 0, ret = 0;
	pid_t pid;

	*c = (struct captured){ .status = 127 };
	if (pipe2(out, O_CLOEXEC))
		return -errno;
	if (pipe2(err, O_CLOEXEC)) {
		ret = -errno;
		goto close_out;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		child(argv, out[1], err[1]);
	if (pid < 0)
		ret = -errno;
	close(out[1]);
	close(err[1]);
	if (pid > 0) {
		collect(out[0], err[0], c);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		c->status = process_status(status);
	}
	close(err[0]);
	close(out[0]);
	return ret;
close_out:
	close(out[0]);
	close(out[1]);
	return ret;
}

const char *process_last_line(char *text)
{
	size_t len = strlen(text);
	char *nl;

	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r' || text[len - 1] == ' '))
		text[--len] = '\0';
	nl = strrchr(text, '\n');
	return nl ? nl + 1 : text;
}

int process_quote(char *to, size_t room, const char *s)
{
	size_t at = strlen(to);

	if (at + 3 > room)
		return -ENOSPC;
	to[at++] = '\'';
	for (; *s; s++) {
		/* A quote inside: out of the quotes, the quote, in again. */
		const char *piece = *s == '\'' ? "'\\''" : NULL;
		size_t n = piece ? 4 : 1;

		if (at + n + 2 > room)
			return -ENOSPC;
		memcpy(to + at, piece ? piece : s, n);
		at += n;
	}
	to[at++] = '\'';
	to[at] = '\0';
	return 0;
}
