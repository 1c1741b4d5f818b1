/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment and /etc/xenferry.conf ask of the helper. */
#ifndef XENFERRY_CONFIG_H
#define XENFERRY_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/save.h"
#include "policy/policy.h"

#define CONFIG_FILE "/etc/xenferry.conf"

enum config_elide {
	ELIDE_AUTO,	/* where the other end is known to promise that they will be zero */
	ELIDE_ALWAYS,
	ELIDE_NEVER,
};

struct config {
	char stats[PATH_MAX];	/* "" for none */
	bool stock_engine;	/* hand every call to libxenguest */
	struct policy_limits limits;
	uint64_t max_bandwidth;	/* bytes a second, 0: no limit */
	enum config_elide elide_zero;
	enum tracker tracker;
	unsigned content_threads;	/* 0: as many as processors, up to 8 */
	bool verify_content;	/* all of memory again in the pause, for the receiver to put right what differs */
	bool single_pages;	/* a guest that arrives gets its memory page by page */
	char problem[256];	/* a sentence about something that can't be understood, else "" */
};

/*
 * The environment wins over the file; a missing file is an empty one. A
 * migration isn't refused for a mistake in it: `problem` names the first one
 * and the default stands.
 */
void config_load(const char *file, struct config *out);

#endif
