// SPDX-License-Identifier: LGPL-2.1-or-later
#include "helper/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_line.h"

static void __attribute__((format(printf, 2, 3)))
complain(struct config *c, const char *fmt, ...)
{
	va_list ap;

	if (c->problem[0])
		return;
	va_start(ap, fmt);
	vsnprintf(c->problem, sizeof(c->problem), fmt, ap);
	va_end(ap);
}

static void set_engine(struct config *c, const char *where, const char *value)
{
	if (!strcmp(value, "stock"))
		c->stock_engine = true;
	else if (!strcmp(value, "ours"))
		c->stock_engine = false;
	else
		complain(c, "%s asks for the engine \"%.40s\"; it must be \"ours\" or \"stock\", \"ours\" is used.",
			 where, value);
}

static void set_stats(struct config *c, const char *where, const char *value)
{
	if (strlen(value) >= sizeof(c->stats))
		complain(c, "%s names a statistics file whose name is too long; none is written.", where);
	else
		strcpy(c->stats, value);
}

/* A whole number from `least` on; "0" stands for no limit where least is 0. */
static bool number(struct config *c, const char *where, const char *value, const char *what,
		   unsigned least, unsigned most, unsigned *out)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(value, &end, 10);
	if (errno || end == value || *end || *value == '-' || n < least || n > most) {
		complain(c, "%s gives \"%.40s\" as %s; it must be a whole number from %u to %u, the default"
			 " is used.", where, value, what, least, most);
		return false;
	}
	*out = (unsigned)n;
	return true;
}

static void set_max_pause(struct config *c, const char *where, const char *value)
{
	unsigned ms;

	if (number(c, where, value, "the longest pause in ms", 1, 3600000, &ms))
		c->limits.max_pause_ms = ms;
}

static void set_max_rounds(struct config *c, const char *where, const char *value)
{
	number(c, where, value, "the most rounds", 0, 1000000, &c->limits.max_rounds);
}

static void set_max_time(struct config *c, const char *where, const char *value)
{
	unsigned s;

	if (number(c, where, value, "the longest time in s", 0, 31536000, &s))
		c->limits.max_time_s = s;
}

static void set_max_bandwidth(struct config *c, const char *where, const char *value)
{
	unsigned mbit;

	if (number(c, where, value, "the bandwidth in Mbit/s", 0, 10000000, &mbit))
		c->max_bandwidth = (uint64_t)mbit * 125000;
}

static void set_when_stuck(struct config *c, const char *where, const char *value)
{
	if (!strcmp(value, "pause"))
		c->limits.when_stuck = POLICY_PAUSE;
	else if (!strcmp(value, "throttle"))
		c->limits.when_stuck = POLICY_THROTTLE;
	else if (!strcmp(value, "abort"))
		c->limits.when_stuck = POLICY_GIVE_UP;
	else
		complain(c, "%s says \"%.40s\" for a guest that is too busy; it must be \"pause\","
			 " \"throttle\" or \"abort\", the default is used.", where, value);
}

static void set_elide_zero(struct config *c, const char *where, const char *value)
{
	if (!strcmp(value, "auto"))
		c->elide_zero = ELIDE_AUTO;
	else if (!strcmp(value, "always"))
		c->elide_zero = ELIDE_ALWAYS;
	else if (!strcmp(value, "never"))
		c->elide_zero = ELIDE_NEVER;
	else
		complain(c, "%s says \"%.40s\" for pages of zeroes; it must be \"auto\", \"always\" or"
			 " \"never\", the default is used.", where, value);
}

static void set_large_pages(struct config *c, const char *where, const char *value)
{
	if (!strcmp(value, "yes") || !strcmp(value, "no"))
		c->single_pages = !strcmp(value, "no");
	else
		complain(c, "%s says \"%.40s\" for memory in large pages; it must be \"yes\" or \"no\","
			 " the default is used.", where, value);
}

static void set_tracker(struct config *c, const char *where, const char *value)
{
	if (!strcmp(value, "auto"))
		c->tracker = TRACKER_AUTO;
	else if (!strcmp(value, "log-dirty"))
		c->tracker = TRACKER_LOG_DIRTY;
	else if (!strcmp(value, "content"))
		c->tracker = TRACKER_CONTENT;
	else
		complain(c, "%s says \"%.40s\" for how written pages are found; it must be \"auto\","
			 " \"log-dirty\" or \"content\", the default is used.", where, value);
}

static void set_content_threads(struct config *c, const char *where, const char *value)
{
	number(c, where, value, "the threads that compare memory", 0, GUEST_LANES, &c->content_threads);
}

static void set_verify_content(struct config *c, const char *where, const char *value)
{
	if (!strcmp(value, "yes") || !strcmp(value, "no"))
		c->verify_content = !strcmp(value, "yes");
	else
		complain(c, "%s says \"%.40s\" for sending all of memory again in the pause; it must be"
			 " \"yes\" or \"no\", the default is used.", where, value);
}

static const struct key {
	const char *name;
	const char *variable;
	void (*set)(struct config *c, const char *where, const char *value);
} keys[] = {
	{ "stats",  "XENFERRY_STATS",  set_stats },
	{ "engine", "XENFERRY_ENGINE", set_engine },
	{ "max-pause",     "XENFERRY_MAX_PAUSE",     set_max_pause },
	{ "max-rounds",    "XENFERRY_MAX_ROUNDS",    set_max_rounds },
	{ "max-time",      "XENFERRY_MAX_TIME",      set_max_time },
	{ "max-bandwidth", "XENFERRY_MAX_BANDWIDTH", set_max_bandwidth },
	{ "when-stuck",    "XENFERRY_WHEN_STUCK",    set_when_stuck },
	{ "elide-zero",    "XENFERRY_ELIDE_ZERO",    set_elide_zero },
	{ "large-pages",   "XENFERRY_LARGE_PAGES",   set_large_pages },
	{ "tracker",	   "XENFERRY_TRACKER",	     set_tracker },
	{ "content-threads", "XENFERRY_CONTENT_THREADS", set_content_threads },
	{ "verify-content", "XENFERRY_VERIFY_CONTENT", set_verify_content },
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* Keys of other programs of the suite share the file, so an unknown one is no mistake. */
static void take_line(struct config *c, const char *file, unsigned number, char *line)
{
	char where[PATH_MAX + 32];
	char *name, *value;
	int rc = config_line(line, &name, &value);

	if (!rc)
		return;
	snprintf(where, sizeof(where), "%s line %u", file, number);
	if (rc < 0) {
		complain(c, "%s is not of the form \"key = value\"; it is ignored.", where);
		return;
	}
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(name, keys[i].name))
			keys[i].set(c, where, value);
}

static void load_file(struct config *c, const char *file)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(file, "re");

	if (!f) {
		if (errno != ENOENT)
			complain(c, "%s can't be read (%s); it is ignored.", file, strerror(errno));
		return;
	}
	for (unsigned number = 1; getline(&line, &room, f) >= 0; number++)
		take_line(c, file, number, line);
	free(line);
	fclose(f);
}

void config_load(const char *file, struct config *out)
{
	memset(out, 0, sizeof(*out));
	out->limits = policy_default_limits;
	load_file(out, file);
	for (size_t i = 0; i < KEYS; i++) {
		const char *value = getenv(keys[i].variable);

		if (value && *value)
			keys[i].set(out, keys[i].variable, value);
	}
}
