/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runcmd.h"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(126);
	close(fd);
}

/* Root in a namespace of its own, where the tests don't run as root. */
static void become_root(void)
{
	char map[64];
	uid_t uid = geteuid();

	if (!uid)
		return;
	if (unshare(CLONE_NEWUSER))
		_exit(126);
	snprintf(map, sizeof(map), "0 %d 1", (int)uid);
	write_file("/proc/self/uid_map", map);
}

void run_begin(struct running_command *c, const char *const args[], int in, int as_nobody)
{
	const char *command = getenv("XENFERRY"), *argv[24];
	int out[2], err[2], n = 0;

	assert_non_null(command);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	argv[n++] = "xenferry";
	while (*args && n < 23)
		argv[n++] = *args++;
	argv[n] = NULL;
	c->pid = fork();
	if (!c->pid) {
		signal(SIGINT, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		if (!as_nobody)
			become_root();
		else if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(126);
		dup2(in >= 0 ? in : open("/dev/null", O_RDONLY), 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		execv(command, (char **)(uintptr_t)argv);
		_exit(126);
	}
	close(out[1]);
	close(err[1]);
	c->out = out[0];
	c->err = err[0];
}

void run_end(struct running_command *c, struct ran *r)
{
	struct pollfd p[2] = { { .fd = c->out, .events = POLLIN }, { .fd = c->err, .events = POLLIN } };
	char *to[2] = { r->out, r->err };
	size_t have[2] = { 0, 0 };
	int status;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		assert_true(poll(p, 2, 60000) > 0 || errno == EINTR);
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (p[i].fd < 0 || !p[i].revents)
				continue;
			n = read(p[i].fd, to[i] + have[i], sizeof(r->out) - 1 - have[i]);
			if (n > 0)
				have[i] += (size_t)n;
			else
				p[i].fd = -1;
		}
	}
	close(c->out);
	close(c->err);
	r->out[have[0]] = '\0';
	r->err[have[1]] = '\0';
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	assert_null(strstr(r->err, "Sanitizer"));
	assert_null(strstr(r->err, "runtime error"));
}

void run_command(struct ran *r, const char *const args[])
{
	struct running_command c;

	run_begin(&c, args, -1, 0);
	run_end(&c, r);
}

void assert_ran(const struct ran *r, int status, const char *in_out, const char *in_err)
{
	if (r->status != status || (in_out && !strstr(r->out, in_out)) ||
	    (in_err && !strstr(r->err, in_err)))
		fail_msg("expected status %d, \"%s\" in output, \"%s\" in errors; found status %d,"
			 " output:\n%s\nerrors:\n%s", status, in_out ? in_out : "", in_err ? in_err : "",
			 r->status, r->out, r->err);
}
