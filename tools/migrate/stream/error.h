/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error a person can read: a negative errno and one sentence. */
#ifndef XENFERRY_STREAM_ERROR_H
#define XENFERRY_STREAM_ERROR_H

#include <stdarg.h>

#define XF_ERROR_TEXT 512

struct xf_error {
	int code;			/* negative errno, 0: no error yet */
	char text[XF_ERROR_TEXT];	/* "" until there is one; no newline */
};

/*
 * Both return code. The first error stays: what follows from it must not
 * overwrite the sentence that names the cause.
 */
int xf_error_set(struct xf_error *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int xf_error_vset(struct xf_error *e, int code, const char *fmt, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
