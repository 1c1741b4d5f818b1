// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * killat [-n N] FILE TEXT... -- SIGNAL VICTIM: waits until FILE, which others
 * write to, has N (1) lines that hold each TEXT, and sends SIGNAL to the
 * victim: its process id; @FILE, which holds some, a line each; or %SIDE, the
 * process that writes that side's lines of a statistics FILE. Says what it did;
 * exit status 1 if the victim was gone by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE 8192
#define SIDES 2

static const char *const sides[SIDES] = { "save", "restore" };
static const char *const marks[SIDES] = { "\"side\":\"save\"", "\"side\":\"restore\"" };
static pid_t writer[SIDES];	/* of each side's lines */

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "killat: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* The next whole line; waits for it. */
static void next_line(int fd, char line[LINE])
{
	static char have[LINE];
	static size_t n;

	for (;;) {
		char *end = memchr(have, '\n', n);
		ssize_t got;

		if (end) {
			size_t len = (size_t)(end - have);

			memcpy(line, have, len);
			line[len] = '\0';
			n -= len + 1;
			memmove(have, end + 1, n);
			return;
		}
		if (n == sizeof(have))
			n = 0;		/* no line of those that are waited for */
		got = read(fd, have + n, sizeof(have) - n);
		if (got < 0)
			die("reading");
		if (!got)
			usleep(500);
		n += (size_t)got;
	}
}

static void note_writer(const char *line)
{
	const char *pid = strstr(line, "\"pid\":");

	for (int i = 0; pid && i < SIDES; i++)
		if (strstr(line, marks[i]))
			writer[i] = atoi(pid + 6);
}

static bool holds_all(const char *line, char **texts, int n)
{
	for (int i = 0; i < n; i++)
		if (!strstr(line, texts[i]))
			return false;
	return true;
}

/* 1 if it was there. */
static int strike(int signo, pid_t pid)
{
	int there = pid > 1 && !kill(pid, signo);

	printf("killat: process %d %s\n", (int)pid, there ? "was sent its signal" : "is gone");
	return there;
}

static int strike_all(int signo, const char *path)
{
	FILE *f = fopen(path, "re");
	int pid, any = 0;

	if (!f)
		die(path);
	while (fscanf(f, "%d", &pid) == 1)
		any |= strike(signo, pid);
	fclose(f);
	return any;
}

static int strike_victim(int signo, const char *victim)
{
	if (*victim == '@')
		return strike_all(signo, victim + 1);
	for (int i = 0; i < SIDES; i++)
		if (*victim == '%' && !strcmp(victim + 1, sides[i]))
			return strike(signo, writer[i]);
	return strike(signo, atoi(victim));
}

int main(int argc, char **argv)
{
	static char line[LINE];
	int first = 1, times = 1, texts, fd;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		times = atoi(argv[2]);
		first = 3;
	}
	if (argc < first + 5 || strcmp(argv[argc - 3], "--")) {
		fprintf(stderr, "usage: killat [-n N] FILE TEXT... -- SIGNAL VICTIM\n");
		return 2;
	}
	texts = argc - 3 - (first + 1);
	fd = open(argv[first], O_RDONLY);
	if (fd < 0)
		die(argv[first]);
	while (times) {
		next_line(fd, line);
		note_writer(line);
		times -= holds_all(line, argv + first + 1, texts);
	}
	printf("killat: at %s\n", line);
	return !strike_victim(atoi(argv[argc - 2]), argv[argc - 1]);
}
