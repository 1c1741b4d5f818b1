/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The helper's statistics, line by line. They come from programs of other
 * versions, perhaps, so a line that makes no sense is counted and left out.
 */
#include "cmd_migrate.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

void events_init(struct migrate_events *e, uint32_t domid)
{
	memset(e, 0, sizeof(*e));
	e->domid = domid;
}

void events_free(struct migrate_events *e)
{
	json_object_put(e->save_end);
	json_object_put(e->restore_end);
	e->save_end = e->restore_end = NULL;
}

double events_real(struct json_object *o, const char *key, double fallback)
{
	struct json_object *v;
	double value;

	if (!o || !json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, &v) ||
	    (!json_object_is_type(v, json_type_double) && !json_object_is_type(v, json_type_int)))
		return fallback;
	value = json_object_get_double(v);
	return isfinite(value) ? value : fallback;
}

int64_t events_count(struct json_object *o, const char *key, int64_t fallback)
{
	struct json_object *v;

	if (!o || !json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, &v) ||
	    !json_object_is_type(v, json_type_int))
		return fallback;
	return json_object_get_int64(v);
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return "";
	return json_object_get_string(v);
}

static unsigned progress(struct migrate_events *e, struct json_object *o)
{
	int64_t round = events_count(o, "round", -1), sent = events_count(o, "sent", -1);
	int64_t of = events_count(o, "of", -1);

	if (round < 0 || sent < 0 || of < 0)
		return EVENT_NONE;
	e->round = round;
	e->sent = sent;
	e->of = of;
	return EVENT_PROGRESS;
}

static unsigned round_end(struct migrate_events *e, struct json_object *o)
{
	struct migrate_round r = {
		.round = events_count(o, "round", -1),
		.pages = events_count(o, "pages", -1),
		.bytes = events_count(o, "bytes", -1),
		.dirty = events_count(o, "dirty", -1),
		.seconds = events_real(o, "seconds", -1),
	};

	if (r.round < 0 || r.pages < 0 || r.bytes < 0 || r.seconds < 0)
		return EVENT_NONE;
	if (e->n_rounds < EVENT_ROUNDS)
		e->rounds[e->n_rounds] = r;
	e->n_rounds++;
	e->t_round = e->t_now;
	e->sent = e->of = 0;
	e->round = r.round + 1;
	return EVENT_ROUND;
}

static unsigned saving(struct migrate_events *e, struct json_object *o, const char *event)
{
	if (!strcmp(event, "start")) {
		int64_t pid = events_count(o, "pid", 0);

		e->started = 1;
		e->pid = pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
		e->t_round = e->t_now;
		return EVENT_STARTED;
	}
	if (!strcmp(event, "progress"))
		return progress(e, o);
	if (!strcmp(event, "round"))
		return round_end(e, o);
	if (!strcmp(event, "suspended")) {
		e->suspended = 1;
		e->t_suspended = e->t_now;
		e->suspend_ms = events_real(o, "suspend_ms", 0);
		return EVENT_SUSPENDED;
	}
	if (strcmp(event, "end"))
		return EVENT_NONE;
	e->ended = 1;
	json_object_put(e->save_end);
	e->save_end = json_object_get(o);
	return EVENT_ENDED;
}

static unsigned restoring(struct migrate_events *e, struct json_object *o, const char *event, double t)
{
	if (!strcmp(event, "end")) {
		json_object_put(e->restore_end);
		e->restore_end = json_object_get(o);
		e->t_restore_end = t;
		return EVENT_ENDED;
	}
	return strcmp(event, "start") ? EVENT_NONE : EVENT_STARTED;
}

static unsigned one_line(struct migrate_events *e)
{
	struct json_object *o;
	unsigned what = EVENT_NONE;
	double t;

	e->lines++;
	e->line[e->have] = '\0';
	o = e->overlong ? NULL : json_tokener_parse(e->line);
	t = events_real(o, "t", -1);
	if (o && json_object_is_type(o, json_type_object) && t >= 0) {
		const char *side = text(o, "side"), *event = text(o, "event");

		if (!strcmp(side, "save") && events_count(o, "domid", -1) == (int64_t)e->domid) {
			e->t_now = t;
			what = saving(e, o, event);
		} else if (!strcmp(side, "restore")) {
			what = restoring(e, o, event, t);
		}
	}
	json_object_put(o);
	if (!what)
		e->unreadable++;
	return what;
}

unsigned events_feed(struct migrate_events *e, const char *p, size_t n)
{
	unsigned what = EVENT_NONE;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n') {
			what |= one_line(e);
			e->have = 0;
			e->overlong = 0;
		} else if (e->have < EVENT_LINE - 1) {
			e->line[e->have++] = p[i];
		} else {
			e->overlong = 1;
		}
	}
	return what;
}

double events_rate(const struct migrate_events *e)
{
	double time = e->t_now - e->t_round;

	return time > 0 && e->sent > 0 ? (double)e->sent / time : 0;
}

double events_pause(const struct migrate_events *e)
{
	double pause = (e->t_restore_end - e->t_suspended) * 1000 + e->suspend_ms;

	return e->suspended && e->restore_end && pause >= 0 ? pause : -1;
}
