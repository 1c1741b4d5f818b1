// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void report_message(const struct report *r, enum report_level level, const char *fmt, ...)
{
	char sentence[512];
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	r->ops->message(r->data, level, sentence);
	errno = saved;
}

void report_progress(const struct report *r, const char *what, uint64_t done, uint64_t total)
{
	r->ops->progress(r->data, what, done, total);
}
