/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef XENFERRY_NET_WHEN_H
#define XENFERRY_NET_WHEN_H

#include <stdint.h>
#include <time.h>

static inline uint64_t xf_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t xf_now_ms(void)
{
	return xf_now_ns() / 1000000u;
}

#endif
