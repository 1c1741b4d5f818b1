/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry migrate: checks, runs xl, says what has become of the domain. */
#include "cmd_migrate.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Opened before anything is done, so that a wrong name costs no migration. */
static FILE *open_json(const struct migrate_options *o)
{
	FILE *f = fopen(o->json, "we");

	if (!f)
		cmd_fail("migrate", 0, "Opening \"%s\" failed (%s): expected a file that may be written;"
			 " nothing was done, so give another --json.", o->json, strerror(errno));
	return f;
}

static int migrate(const struct migrate_options *o, const struct migrate_setup *s, FILE *json)
{
	static struct migrate_events events;	/* with its line buffer, too large for a stack */
	struct migrate_result result;
	struct migrate_run r;
	int ret;

	events_init(&events, s->domain.id);
	ret = migrate_run(o, s, &events, &r);
	if (!ret) {
		migrate_judge(o, s, &r, &result);
		migrate_print(o, s, &events, &r, &result);
		ret = result.exit;
		if (json && migrate_write_json(json, o, s, &events, &r, &result))
			cmd_fail("migrate", 0, "Writing \"%s\" failed: expected the disk to take the result;"
				 " the exit status is that of the migration all the same.", o->json);
	}
	events_free(&events);
	free(r.log);
	return ret;
}

int cmd_migrate(int argc, char **argv)
{
	struct migrate_options o;
	struct migrate_setup s = { 0 };
	FILE *json = NULL;
	int ret;

	ret = migrate_parse(argc, argv, &o);
	if (ret)
		return ret - 1;
	signal(SIGCHLD, SIG_DFL);
	ret = migrate_check_here(&s);
	if (!ret)
		ret = migrate_check_domain(&o, &s);
	if (!ret)
		ret = migrate_check_host(&o, &s);
	if (ret)
		return ret;
	if (o.json) {
		json = open_json(&o);
		if (!json)
			return MIGRATE_CANNOT;
	}
	ret = migrate(&o, &s, json);
	if (json)
		fclose(json);
	return ret;
}
