/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <xentoollog.h>

static void no_message(struct xentoollog_logger *logger, xentoollog_level level, int errnoval,
		       const char *context, const char *format, va_list al)
{
	(void)logger, (void)level, (void)errnoval, (void)context, (void)format, (void)al;
}

static void no_progress(struct xentoollog_logger *logger, const char *context,
			const char *doing_what, int percent, unsigned long done,
			unsigned long total)
{
	(void)logger, (void)context, (void)doing_what, (void)percent, (void)done, (void)total;
}

static void no_destroy(struct xentoollog_logger *logger)
{
	(void)logger;
}

struct xentoollog_logger *bench_quiet(void)
{
	static struct xentoollog_logger quiet = { no_message, no_progress, no_destroy };

	return &quiet;
}
