/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the engine's sentences and progress go: to whoever called it. */
#ifndef XENFERRY_REPORT_H
#define XENFERRY_REPORT_H

#include <stdint.h>

enum report_level {
	REPORT_DEBUG,
	REPORT_INFO,
	REPORT_WARN,
	REPORT_ERROR,
};

struct report_ops {
	void (*message)(void *data, enum report_level level, const char *sentence);
	/* total 0: a milestone without a measure. */
	void (*progress)(void *data, const char *what, uint64_t done, uint64_t total);
};

struct report {
	const struct report_ops *ops;
	void *data;
};

void report_message(const struct report *r, enum report_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void report_progress(const struct report *r, const char *what, uint64_t done, uint64_t total);

#define report_debug(r, ...) report_message(r, REPORT_DEBUG, __VA_ARGS__)
#define report_info(r, ...)  report_message(r, REPORT_INFO, __VA_ARGS__)
#define report_warn(r, ...)  report_message(r, REPORT_WARN, __VA_ARGS__)
#define report_error(r, ...) report_message(r, REPORT_ERROR, __VA_ARGS__)

#endif
