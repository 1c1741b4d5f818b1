// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper/logger.h"

#include <dlfcn.h>
#include <stdio.h>

#include "helper/export.h"

/*
 * libxenctrl exports these for libxenguest, but no header declares them. Weak,
 * so that a libxenctrl without one costs the message and not the migration.
 */
void xc_report_error(xc_interface *xch, int code, const char *fmt, ...)
	__attribute__((weak, format(printf, 3, 4)));
const char *xc_set_progress_prefix(xc_interface *xch, const char *doing) __attribute__((weak));
void xc_report_progress_single(xc_interface *xch, const char *doing) __attribute__((weak));
void xc_report_progress_step(xc_interface *xch, unsigned long done, unsigned long total)
	__attribute__((weak));

/*
 * A handle doesn't give its logger away, and xc_report_error knows one level
 * only. So the opening of the handle passes through here.
 */
static struct {
	xc_interface *xch;
	xentoollog_logger *logger;
} opened;

EXPORT xc_interface *xc_interface_open(xentoollog_logger *logger,
				       xentoollog_logger *dombuild_logger, unsigned open_flags)
{
	__typeof__(xc_interface_open) *stock =
		(__typeof__(xc_interface_open) *)dlsym(RTLD_NEXT, "xc_interface_open");
	xc_interface *xch = stock ? stock(logger, dombuild_logger, open_flags) : NULL;

	if (xch && logger) {
		opened.xch = xch;
		opened.logger = logger;
	}
	return xch;
}

static xentoollog_logger *logger_of(const xc_interface *xch)
{
	return opened.xch == xch ? opened.logger : NULL;
}

static void message(void *data, enum report_level level, const char *sentence)
{
	static const xentoollog_level levels[] = {
		[REPORT_DEBUG] = XTL_DEBUG,
		[REPORT_INFO]  = XTL_INFO,
		[REPORT_WARN]  = XTL_WARN,
		[REPORT_ERROR] = XTL_ERROR,
	};
	xc_interface *xch = data;
	xentoollog_logger *logger = logger_of(xch);

	/* xc_report_error also keeps the sentence for xc_get_last_error. */
	if (level == REPORT_ERROR && xc_report_error)
		xc_report_error(xch, XC_ERROR_NONE, "%s", sentence);
	else if (logger)
		xtl_log(logger, levels[level], -1, "xc", "%s", sentence);
	else if (level == REPORT_ERROR)
		fprintf(stderr, "xenferry: %s\n", sentence);
}

static void progress(void *data, const char *what, uint64_t done, uint64_t total)
{
	xc_interface *xch = data;

	if (!total) {
		if (xc_report_progress_single)
			xc_report_progress_single(xch, what);
		return;
	}
	if (!xc_set_progress_prefix || !xc_report_progress_step)
		return;
	xc_set_progress_prefix(xch, what);
	xc_report_progress_step(xch, done, total);
	xc_set_progress_prefix(xch, NULL);
}

static const struct report_ops ops = {
	.message = message,
	.progress = progress,
};

void logger_report(xc_interface *xch, struct report *out)
{
	out->ops = &ops;
	out->data = xch;
}
