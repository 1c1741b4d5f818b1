/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The talk with Dom0 over the guest's console: lines that begin with "xf ". Nothing here waits: while the console
 * takes no output (its other end is being migrated) lines are kept, so that the pause measured is the guest's and
 * not the console's.
 */
#ifndef WORKLOAD_CONSOLE_H
#define WORKLOAD_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct console {
	int fd;
	char out[8192], in[256];
	size_t out_len, in_len;
};

int console_open(struct console *console, const char *path);

/* Queues one line. A line that does not fit is dropped as a whole: whoever asked asks again. */
void console_say(struct console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends what is queued as far as it goes. */
void console_flush(struct console *console);

/* Takes one line that was read, without its newline, if there is one. */
bool console_hear(struct console *console, char *line, size_t size);

#endif
