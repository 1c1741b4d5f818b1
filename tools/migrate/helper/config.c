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

static const struct key {
	const char *name;
	const char *variable;
	void (*set)(struct config *c, const char *where, const char *value);
} keys[] = {
	{ "stats",  "XENFERRY_STATS",  set_stats },
	{ "engine", "XENFERRY_ENGINE", set_engine },
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
	load_file(out, file);
	for (size_t i = 0; i < KEYS; i++) {
		const char *value = getenv(keys[i].variable);

		if (value && *value)
			keys[i].set(out, keys[i].variable, value);
	}
}
