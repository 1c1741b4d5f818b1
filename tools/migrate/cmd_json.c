// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a subcommand says to programs. */
#include <errno.h>
#include <json-c/json.h>

#include "cmd.h"

int cmd_write_json(FILE *to, struct json_object *all)
{
	int ret;

	errno = 0;
	ret = fprintf(to, "%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
								     JSON_C_TO_STRING_SPACED));
	json_object_put(all);
	if (ret < 0 || fflush(to))
		return errno ? -errno : -EIO;
	return 0;
}
