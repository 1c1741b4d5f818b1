// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config_line.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

int config_line(char *line, char **key, char **value)
{
	char *equals;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return -EINVAL;
	*equals = '\0';
	*key = trim(line);
	*value = trim(equals + 1);
	return 1;
}
