/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/error.h"

#include <stdio.h>

int xf_error_vset(struct xf_error *e, int code, const char *fmt, va_list args)
{
	if (e->code)
		return e->code;
	e->code = code;
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	return code;
}

int xf_error_set(struct xf_error *e, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	code = xf_error_vset(e, code, fmt, args);
	va_end(args);
	return code;
}
