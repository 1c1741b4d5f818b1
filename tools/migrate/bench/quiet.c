/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <stdio.h>

#include <xentoollog.h>

/* A level above the highest there is: nothing passes. */
struct xentoollog_logger *bench_quiet(void)
{
	static xentoollog_logger_stdiostream *quiet;

	if (!quiet)
		quiet = xtl_createlogger_stdiostream(stderr, XTL_NUM_LEVELS, 0);
	return (struct xentoollog_logger *)quiet;
}
