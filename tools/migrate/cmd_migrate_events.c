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
	e->bytes = -1;
	e->dirty_mib_s = -1;
}

void events_init_any(struct migrate_events *e)
{
	events_init(e, 0);
	e->any = 1;
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

const char *events_text(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!o || !json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, &v) ||
	    !json_object_is_type(v, json_type_string))
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
	e->bytes = events_count(o, "bytes", -1);
	e->dirty_mib_s = events_real(o, "dirty_mib_s", -1);
	return EVENT_PROGRESS;
}

int events_round(struct json_object *o, struct migrate_round *r)
{
	*r = (struct migrate_round){
		.round = events_count(o, "round", -1),
		.pages = events_count(o, "pages", -1),
		.bytes = events_count(o, "bytes", -1),
		.dirty = events_count(o, "dirty", -1),
		.seconds = events_real(o, "seconds", -1),
		.t = events_real(o, "t", -1),
		.dirty_mib_s = events_real(o, "dirty_mib_s", -1),
		.predicted_pause_ms = events_real(o, "predicted_pause_ms", -1),
		.cap = events_count(o, "cap", 100),
	};
	return r->round < 0 || r->pages < 0 || r->bytes < 0 || r->seconds < 0 ? -1 : 0;
}

static unsigned round_end(struct migrate_events *e, struct json_object *o)
{
	struct migrate_round r;

	if (events_round(o, &r))
		return EVENT_NONE;
	r.paused = e->suspended;
	if (e->n_rounds < EVENT_ROUNDS)
		e->rounds[e->n_rounds] = r;
	e->n_rounds++;
	e->t_round = e->t_now;
	e->sent = e->of = 0;
	e->round = r.round + 1;
	return EVENT_ROUND;
}

/* Of several in a file the one that starts last is meant. */
static void forget(struct migrate_events *e)
{
	json_object_put(e->save_end);
	json_object_put(e->restore_end);
	e->save_end = e->restore_end = NULL;
	e->started = e->suspended = e->ended = 0;
	e->n_rounds = 0;
	e->round = e->sent = e->of = 0;
	e->bytes = -1;
	e->dirty_mib_s = -1;
}

static unsigned saving(struct migrate_events *e, struct json_object *o, const char *event)
{
	if (!strcmp(event, "start")) {
		int64_t pid = events_count(o, "pid", 0);

		e->started = 1;
		e->pid = pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
		e->t_start = e->t_round = e->t_now;
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
	e->t_save_end = e->t_now;
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

static unsigned understood(struct migrate_events *e, struct json_object *o, double t)
{
	const char *side = events_text(o, "side"), *event = events_text(o, "event");
	int64_t domid = events_count(o, "domid", -1);

	if (!strcmp(side, "restore"))
		return restoring(e, o, event, t);
	if (strcmp(side, "save") || domid < 0 || domid > UINT32_MAX)
		return EVENT_NONE;
	if (e->any && !strcmp(event, "start")) {
		forget(e);
		e->domid = (uint32_t)domid;
	}
	if (domid != (int64_t)e->domid)
		return e->any ? EVENT_OTHERS : EVENT_NONE;
	e->t_now = t;
	return saving(e, o, event);
}

static unsigned one_line(struct migrate_events *e)
{
	struct json_object *o;
	unsigned what = EVENT_NONE;
	double t;

	e->lines++;
	e->line[e->have] = '\0';
	o = e->overlong || strlen(e->line) != e->have ? NULL : json_tokener_parse(e->line);
	t = events_real(o, "t", -1);
	if (t >= 0)
		what = understood(e, o, t);
	json_object_put(o);
	if (!what && !e->unreadable++)
		e->first_unreadable = e->lines;
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

static const struct migrate_round *last_live(const struct migrate_events *e)
{
	size_t n = e->n_rounds < EVENT_ROUNDS ? e->n_rounds : EVENT_ROUNDS;

	while (n && (e->rounds[n - 1].paused || e->rounds[n - 1].predicted_pause_ms < 0))
		n--;
	return n ? &e->rounds[n - 1] : NULL;
}

double events_predicted(const struct migrate_events *e)
{
	const struct migrate_round *r = last_live(e);

	return r ? r->predicted_pause_ms : -1;
}

/*
 * A round leaves behind what was dirtied in it, for the next one, and so on: a
 * row of rounds that each take so many times as long as the one before.
 */
double events_left(const struct migrate_events *e)
{
	const struct migrate_round *r = last_live(e);
	double rate = events_rate(e), times;

	if (rate <= 0 || !r || r->dirty_mib_s < 0 || e->suspended)
		return -1;
	times = r->dirty_mib_s * 256 / rate;
	if (times >= 1)
		return -1;
	return ((double)(e->of > e->sent ? e->of - e->sent : 0) + (double)e->of * times / (1 - times)) / rate;
}

double events_pause(const struct migrate_events *e)
{
	double end = e->t_restore_end > e->t_save_end ? e->t_restore_end : e->t_save_end;
	double pause = (end - e->t_suspended) * 1000;

	/* The other host's clock is another one. */
	return e->suspended && e->save_end && e->restore_end && e->t_restore_end >= e->t_suspended ? pause : -1;
}
