/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line of /etc/xenferry.conf, for all who read it. */
#ifndef XENFERRY_CONFIG_LINE_H
#define XENFERRY_CONFIG_LINE_H

/*
 * Cuts "key = value" up in place: 1, and key and value without the blanks around
 * them; 0 for an empty line or a comment; -EINVAL where there is no "=".
 */
int config_line(char *line, char **key, char **value);

#endif
