/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file comes from anywhere, so what doesn't make sense is refused: a picture
 * of half a migration would be taken for the whole.
 */
#include "cmd_report.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define RESULT_MAX (4u << 20)	/* a result has a few hundred rounds of some 200 bytes */
#define SENSIBLE   1e12		/* no migration has so many pages, seconds or ms */

/* ---- from events to the picture ------------------------------------------------ */

static int sensible(double v)
{
	return v >= -1 && v <= SENSIBLE;
}

static int refuse(const char *name, const char *found)
{
	return cmd_fail(REPORT, XF_EXIT_FAILED, "Found %s in \"%s\", expected the statistics of a migration that has ended;"
			" nothing was drawn.", found, name);
}

/* Times are those at which rounds were told, less how long they took; one never begins before the one before ended. */
static int take_rounds(const struct migrate_events *e, struct report *r)
{
	double at = 0;

	for (size_t i = 0; i < e->n_rounds; i++) {
		const struct migrate_round *from = &e->rounds[i];
		struct chart_round *to = &r->rounds[i];
		double end = from->t >= e->t_start ? from->t - e->t_start : at + from->seconds;

		if (!sensible((double)from->pages) || !sensible((double)from->bytes) || !sensible(end) ||
		    !sensible((double)from->dirty) || !sensible(from->dirty_mib_s) || !sensible(from->seconds))
			return -1;
		*to = (struct chart_round) {
			.begin = end - from->seconds > at ? end - from->seconds : at, .end = end > at ? end : at,
			.pages = (double)from->pages, .dirty = (double)from->dirty, .dirty_mib_s = from->dirty_mib_s,
			.mib_s = from->seconds > 0 ? (double)from->bytes / 1048576 / from->seconds : 0,
			.paused = from->paused,
		};
		if (to->mib_s > SENSIBLE)
			return -1;
		at = to->end;
	}
	r->chart.rounds = r->rounds;
	r->chart.n = e->n_rounds;
	r->chart.ended_at = at;
	return 0;
}

/* all: from suspended to the later end of both sides, in ms; -1 where that isn't known. */
static int take_pause(const struct migrate_events *e, double all, struct chart_pause *p)
{
	struct json_object *parts = NULL;
	double known;

	if (e->save_end)
		json_object_object_get_ex(e->save_end, "pause", &parts);
	*p = (struct chart_pause) {
		.suspend_ms = events_real(parts, "suspend_ms", -1), .copy_ms = events_real(parts, "last_copy_ms", -1),
		.state_ms = events_real(parts, "state_ms", -1), .rest_ms = -1, .predicted_ms = events_predicted(e),
	};
	known = (p->copy_ms > 0 ? p->copy_ms : 0) + (p->state_ms > 0 ? p->state_ms : 0);
	if (all >= known && known > 0)
		p->rest_ms = all - known;
	return sensible(p->suspend_ms) && sensible(p->copy_ms) && sensible(p->state_ms) && sensible(p->predicted_ms) &&
	       sensible(all) ? 0 : -1;
}

static void write_title(const struct migrate_events *e, struct chart *c)
{
	int64_t bytes = events_count(e->save_end, "bytes", -1), result = events_count(e->save_end, "result", 0);
	const char *engine = events_text(e->save_end, "engine"), *why = events_text(e->save_end, "stopped_for");
	double total = events_real(e->save_end, "total_s", c->ended_at);
	char size[32];

	snprintf(c->title, sizeof(c->title), "Migration of domain %u: %.1f s%s", e->domid,
		 sensible(total) ? total : c->ended_at, result ? ", FAILED" : "");
	snprintf(c->subtitle, sizeof(c->subtitle), "engine %.40s, %" PRId64 " rounds, %s sent%s%.40s",
		 *engine ? engine : "not known", events_count(e->save_end, "rounds", (int64_t)e->n_rounds),
		 bytes >= 0 ? cmd_size(size, (uint64_t)bytes) : "unknown bytes", *why ? "; suspended for: " : "", why);
}

static int build(const struct migrate_events *e, double pause, const char *name, struct report *r)
{
	struct chart *c = &r->chart;
	double tail;

	*c = (struct chart) { .suspended_at = -1 };
	if (e->n_rounds > EVENT_ROUNDS)
		return refuse(name, "more rounds than fit into a picture (256)");
	if (take_rounds(e, r) || take_pause(e, pause, &c->pause))
		return refuse(name, "a figure out of all bounds");
	tail = c->pause.rest_ms >= 0 ? pause / 1000 : 0;
	if (e->suspended) {
		c->suspended_at = e->t_suspended - e->t_start;
		if (!(c->suspended_at >= 0 && sensible(c->suspended_at)))
			return refuse(name, "times that run backwards");
		if (c->suspended_at + tail > c->ended_at)
			c->ended_at = c->suspended_at + tail;
	}
	if (c->ended_at <= 0)
		c->ended_at = 1;
	write_title(e, c);
	return 0;
}

/* ---- statistics lines ------------------------------------------------------------ */

static int from_lines(const struct migrate_events *e, const char *name, struct report *r)
{
	char what[120];

	if (e->unreadable) {
		snprintf(what, sizeof(what), "a line that makes no sense, number %" PRIu64 " of %" PRIu64 ",",
			 e->first_unreadable, e->lines);
		return refuse(name, what);
	}
	if (e->have || e->overlong)
		return refuse(name, "half a line at the end");
	if (!e->ended)
		return refuse(name, "no end of the last migration (it was killed, or goes on)");
	return build(e, events_pause(e), name, r);
}

/* ---- what xenferry migrate --json wrote -------------------------------------------- */

static int result_rounds(struct json_object *list, struct migrate_events *e)
{
	size_t n = json_object_array_length(list);

	e->n_rounds = n;
	for (size_t i = 0; i < n && i < EVENT_ROUNDS; i++) {
		if (events_round(json_object_array_get_idx(list, i), &e->rounds[i]))
			return -1;
		e->rounds[i].paused = i + 1 == n && n > 1;
	}
	return 0;
}

static int from_result(struct json_object *all, const char *name, struct report *r)
{
	static struct migrate_events e;
	struct json_object *list = NULL, *save = NULL;
	int64_t domid = events_count(all, "domid", -1);
	double pause = events_real(all, "engine_pause_ms", -1);
	const struct migrate_round *last;
	int ret;

	if (!json_object_object_get_ex(all, "rounds", &list) || !json_object_is_type(list, json_type_array) ||
	    domid < 0 || domid > UINT32_MAX)
		return refuse(name, "neither statistics lines nor the result of xenferry migrate --json");
	if (!json_object_object_get_ex(all, "save", &save) || !json_object_is_type(save, json_type_object))
		return refuse(name, "a migration without statistics of its sending side");
	events_init(&e, (uint32_t)domid);
	if (result_rounds(list, &e))
		return refuse(name, "a round that makes no sense");
	e.save_end = json_object_get(save);
	last = e.n_rounds && e.n_rounds <= EVENT_ROUNDS ? &e.rounds[e.n_rounds - 1] : NULL;
	/* The rounds say when they ended, the end how long all of it took. */
	if (last && last->t >= 0) {
		e.t_start = e.rounds[0].t - e.rounds[0].seconds;
		e.suspended = last->paused && json_object_object_get_ex(save, "pause", NULL);
		e.t_suspended = last->t - last->seconds;
	}
	ret = build(&e, pause, name, r);
	events_free(&e);
	return ret;
}

/* ---- either ---------------------------------------------------------------------- */

int report_load(FILE *f, const char *name, struct report *r)
{
	static struct migrate_events e;		/* with its line buffer, too large for a stack */
	char *text = malloc(RESULT_MAX + 1), *p = text;
	struct json_object *all;
	size_t n, have = 0;
	int ret;

	if (!text)
		return cmd_fail(REPORT, XF_EXIT_FAILED, "Found no memory, expected %u bytes.", RESULT_MAX);
	events_init_any(&e);
	/* The beginning is kept for the case that it is one object, the lines are taken as they come. */
	while ((n = fread(p, 1, 65536 < RESULT_MAX - have ? 65536 : RESULT_MAX - have, f))) {
		events_feed(&e, p, n);
		have += n;
		if (have == RESULT_MAX && e.started)
			have = 0;
		p = text + have;
		if (have == RESULT_MAX)
			break;
	}
	if (ferror(f)) {
		ret = cmd_fail(REPORT, XF_EXIT_FAILED, "Reading \"%s\" failed: expected a file of statistics.", name);
	} else if (e.started) {
		ret = from_lines(&e, name, r);
	} else {
		text[have] = '\0';
		all = strlen(text) == have ? json_tokener_parse(text) : NULL;
		ret = all ? from_result(all, name, r) :
		      refuse(name, have ? "no sending side of a migration" : "nothing at all");
		json_object_put(all);
	}
	events_free(&e);
	free(text);
	return ret;
}
