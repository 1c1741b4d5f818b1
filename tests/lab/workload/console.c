// SPDX-License-Identifier: LGPL-2.1-or-later
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int console_open(struct console *console, const char *path)
{
	struct termios raw;

	console->out_len = console->in_len = 0;
	console->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (console->fd < 0)
		return -errno;
	if (tcgetattr(console->fd, &raw) == 0) {
		cfmakeraw(&raw);
		tcsetattr(console->fd, TCSANOW, &raw);
	}
	return 0;
}

void console_say(struct console *console, const char *format, ...)
{
	size_t room = sizeof(console->out) - console->out_len;
	char *end = console->out + console->out_len;
	va_list args;
	int n;

	/* A line of its own even if the kernel has just written half of one, and an end by which a whole one is known. */
	if (room < 10)
		return;
	memcpy(end, "\nxf ", 4);
	va_start(args, format);
	n = vsnprintf(end + 4, room - 7, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room - 7)
		return;
	memcpy(end + 4 + n, " .\n", 3);
	console->out_len += 7 + (size_t)n;
	console_flush(console);
}

void console_flush(struct console *console)
{
	ssize_t n;

	if (console->out_len == 0)
		return;
	n = write(console->fd, console->out, console->out_len);
	if (n <= 0)
		return;
	console->out_len -= (size_t)n;
	memmove(console->out, console->out + n, console->out_len);
}

bool console_hear(struct console *console, char *line, size_t size)
{
	char *newline;
	ssize_t n;

	if (console->in_len == sizeof(console->in))
		console->in_len = 0;	/* no command is that long */
	n = read(console->fd, console->in + console->in_len, sizeof(console->in) - console->in_len);
	if (n > 0)
		console->in_len += (size_t)n;
	newline = memchr(console->in, '\n', console->in_len);
	if (!newline)
		return false;
	*newline = '\0';
	snprintf(line, size, "%s", console->in);
	console->in_len -= (size_t)(newline + 1 - console->in);
	memmove(console->in, newline + 1, console->in_len);
	return true;
}
