/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What has become of the domain, for people and for machines. */
#include "cmd_migrate.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <string.h>

#define AWAY	   "--migratedaway"
#define TAIL_LINES 20

/* ---- why ------------------------------------------------------------------ */

/* The first line that names an error is nearest to the cause; else the last line. */
static void cause(const struct migrate_run *r, char *to, size_t room)
{
	const char *last = "", *line = r->log;
	size_t last_len = 0;

	while (*line) {
		size_t len = strcspn(line, "\r\n");

		if (memmem(line, len, "error: ", 7)) {
			last = line;
			last_len = len;
			break;
		}
		if (len) {
			last = line;
			last_len = len;
		}
		line += len;
		line += *line != '\0';
	}
	snprintf(to, room, "%.*s", (int)(last_len < 300 ? last_len : 300), last);
}

static void say(struct migrate_result *result, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct migrate_result *result, int status, const char *fmt, ...)
{
	va_list args;

	result->exit = status;
	va_start(args, fmt);
	vsnprintf(result->text, sizeof(result->text), fmt, args);
	va_end(args);
}

static int ends_with(const char *s, const char *end)
{
	size_t a = strlen(s), b = strlen(end);

	return a >= b && !strcmp(s + a - b, end);
}

/* xl has given up and the domain runs here. */
static void stayed(const struct migrate_options *o, const struct migrate_setup *s,
		   const struct migrate_run *r, struct migrate_result *result)
{
	char why[320];

	cause(r, why, sizeof(why));
	if (r->interrupts)
		say(result, MIGRATE_INTERRUPTED, "Moving \"%s\" to %s was stopped as asked: the domain"
		    " runs on here as number %u.", s->domain.name, o->host, s->domain.id);
	else if (s->over_connect && (strstr(r->log, "reading banner") || strstr(r->log, "instead of banner")))
		say(result, MIGRATE_NO_HOST, "Reaching %s with \"%s\" failed (\"%s\"): expected its listener to start"
		    " xl; the domain \"%s\" was not touched and runs on here, so see that \"xenferry listen\" runs"
		    " there and knows this host.", o->host, o->ssh, why, s->domain.name);
	else if (strstr(r->log, "reading banner") || strstr(r->log, "instead of banner"))
		say(result, MIGRATE_NO_HOST, "Starting xl on %s failed (\"%s\"): expected its word that it"
		    " is ready to receive; the domain \"%s\" was not touched and runs on here, so see"
		    " that \"%s %s xl list\" works.", o->host, why, s->domain.name, o->ssh, o->host);
	else
		say(result, MIGRATE_STAYED, "Moving \"%s\" to %s failed (xl's exit status %d, \"%s\"):"
		    " expected it to arrive; the domain runs on here as number %u, so mend that and"
		    " try again.", s->domain.name, o->host, r->status, why, s->domain.id);
}

void migrate_judge(const struct migrate_options *o, const struct migrate_setup *s,
		   const struct migrate_run *r, struct migrate_result *result)
{
	struct migrate_domain now;
	char id[16];
	int ret;

	*result = (struct migrate_result){ 0 };
	if (!r->status)
		return;
	snprintf(id, sizeof(id), "%u", s->domain.id);
	ret = migrate_query(s->xl, id, &now);
	if (ret == -ESRCH)
		say(result, MIGRATE_UNSURE, "Moving \"%s\" to %s ended with xl's exit status %d, and"
		    " number %u is no longer here: expected it here or there; look on %s whether it"
		    " runs.", s->domain.name, o->host, r->status, s->domain.id, o->host);
	else if (ret)
		say(result, MIGRATE_UNSURE, "Moving \"%s\" to %s failed (xl's exit status %d), and so did"
		    " asking \"xl list\" about it (%s): expected to find it here; look at both hosts for"
		    " it.", s->domain.name, o->host, r->status, strerror(-ret));
	else if (ends_with(now.name, AWAY))
		say(result, MIGRATE_UNSURE, "Moving \"%s\" to %s failed at the last handshake (xl's exit"
		    " status %d): found the domain given away as \"%s\" with no word of its arrival,"
		    " expected one; look on %s, and resume it here only if it does not run"
		    " there.", s->domain.name, o->host, r->status, now.name, o->host);
	else if (!migrate_runs_as_before(&s->domain, &now))
		say(result, MIGRATE_UNSURE, "Moving \"%s\" to %s failed (xl's exit status %d): found the"
		    " domain standing still here (state %s), expected it to run on; look on %s, and if"
		    " it isn't there, resume it here (\"xl unpause %u\" for state p).", s->domain.name,
		    o->host, r->status, now.state, o->host, s->domain.id);
	else
		stayed(o, s, r, result);
}

/* ---- for people ------------------------------------------------------------ */

static void print_log(const struct migrate_run *r)
{
	const char *p = r->log + r->log_len;
	int lines = 0;

	while (p > r->log && lines <= TAIL_LINES)
		lines += *--p == '\n';
	if (p > r->log)
		p++;
	fputs("What xl said last:\n", stderr);
	while (*p) {
		size_t len = strcspn(p, "\r\n");

		if (len)
			fprintf(stderr, "  %.*s\n", (int)len, p);
		p += len;
		p += *p != '\0';
	}
}

static void print_ms(const char *what, double ms, int indent)
{
	if (ms >= 0)
		printf("%*s%-*s %10.1f ms\n", indent, "", 20 - indent, what, ms);
	else
		printf("%*s%-*s %10s\n", indent, "", 20 - indent, what, "not known");
}

static const char *engine_of(struct json_object *end, const char *unknown)
{
	struct json_object *v;

	if (!end || !json_object_object_get_ex(end, "engine", &v) ||
	    !json_object_is_type(v, json_type_string))
		return unknown;
	return json_object_get_string(v);
}

/* Who received, as far as it is known without its statistics. */
static const char *receiver(const struct migrate_setup *s)
{
	return s->over_connect ? "the listener's choice" : s->receiver_ours ? "ours" : "stock";
}

static struct json_object *pause_of(const struct migrate_events *e)
{
	struct json_object *pause = NULL;

	if (e->save_end)
		json_object_object_get_ex(e->save_end, "pause", &pause);
	return pause;
}

/* What is known of a part, behind its line. */
static void print_part(const char *what, double ms, const char *sep)
{
	if (ms >= 0)
		printf("%s%s %.1f", sep, what, ms);
}

static void print_pause(const struct migrate_events *e)
{
	struct json_object *pause = pause_of(e);
	double suspend = events_real(pause, "suspend_ms", -1);
	double copy = events_real(pause, "last_copy_ms", -1);
	double state = events_real(pause, "state_ms", -1);
	double all = events_pause(e), rest = -1;

	if (all >= 0 && copy >= 0 && state >= 0 && all >= copy + state)
		rest = all - copy - state;
	print_ms("suspending", suspend, 2);
	if (all >= 0)
		printf("  pause of the engine %9.1f ms, of which\n", all);
	else if (copy >= 0 && state >= 0)
		printf("  pause, this host's part %5.1f ms, of which\n", copy + state);
	else
		puts("  pause of the engine");
	print_ms("last copy", copy, 4);
	print_ms("state", state, 4);
	print_ms("both sides' end", rest, 4);
	if (events_real(pause, "collect_ms", -1) >= 0) {
		print_part("finding the last pages", events_real(pause, "collect_ms", -1), "    (");
		print_part("log-dirty off", events_real(pause, "release_ms", -1), ", ");
		print_part("applied there", events_real(e->restore_end, "apply_ms", -1), ", ");
		puts(" ms)");
	}
	if (events_predicted(e) >= 0)
		printf("  pause as predicted%11.1f ms\n", events_predicted(e));
}

static void print_summary(const struct migrate_options *o, const struct migrate_setup *s,
			  const struct migrate_events *e, const struct migrate_run *r)
{
	int64_t bytes = events_count(e->save_end, "bytes", -1);
	int64_t pages = events_count(e->save_end, "pages", -1);
	int64_t zero = events_count(e->save_end, "zero_pages", -1);
	int64_t rounds = events_count(e->save_end, "rounds", -1);
	double memory = events_real(e->save_end, "memory_s", -1);
	char size[32];

	printf("Moved \"%s\" (%" PRIu64 " MiB) to %s in %.1f s%s.\n", s->domain.name, s->domain.mib,
	       o->host, r->seconds, o->paused ? "; it is paused there" : "");
	if (!e->save_end) {
		puts("  The helper gave no statistics.");
		return;
	}
	printf("  engine here, there   %s, %s\n", engine_of(e->save_end, "not known"),
	       engine_of(e->restore_end, receiver(s)));
	if (memory >= 0)
		printf("  memory phase         %.1f s\n", memory);
	if (rounds >= 0)
		printf("  rounds               %" PRId64 "\n", rounds);
	if (pages >= 0)
		printf("  pages sent           %" PRId64, pages);
	if (pages >= 0 && zero >= 0)
		printf(", %" PRId64 " of them zero", zero);
	if (pages >= 0)
		putchar('\n');
	if (bytes >= 0)
		printf("  bytes sent           %s\n", cmd_size(size, (uint64_t)bytes));
	print_pause(e);
}

void migrate_print(const struct migrate_options *o, const struct migrate_setup *s,
		   const struct migrate_events *e, const struct migrate_run *r,
		   const struct migrate_result *result)
{
	if (e->unreadable && !o->quiet)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " statistics lines made no sense and were left"
			" out.\n", e->unreadable, e->lines);
	if (result->exit) {
		if (!o->verbose && r->log_len)
			print_log(r);
		cmd_fail("migrate", result->exit, "%s", result->text);
	} else if (!o->quiet) {
		print_summary(o, s, e, r);
	}
}

/* ---- for machines ------------------------------------------------------------ */

static struct json_object *real(double value)
{
	char text[64];

	if (value < 0)
		return NULL;
	snprintf(text, sizeof(text), "%.3f", value);
	return json_object_new_double_s(value, text);
}

static struct json_object *rounds_of(const struct migrate_events *e)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < e->n_rounds && i < EVENT_ROUNDS; i++) {
		const struct migrate_round *r = &e->rounds[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "round", json_object_new_int64(r->round));
		json_object_object_add(o, "pages", json_object_new_int64(r->pages));
		json_object_object_add(o, "bytes", json_object_new_int64(r->bytes));
		json_object_object_add(o, "seconds", real(r->seconds));
		json_object_object_add(o, "t", real(r->t));
		json_object_object_add(o, "dirty", json_object_new_int64(r->dirty));
		json_object_object_add(o, "dirty_mib_s", real(r->dirty_mib_s));
		json_object_object_add(o, "predicted_pause_ms", real(r->predicted_pause_ms));
		json_object_object_add(o, "cap", json_object_new_int64(r->cap));
		json_object_array_add(all, o);
	}
	return all;
}

static const char *word_for(int status)
{
	switch (status) {
	case XF_EXIT_OK:
		return "migrated";
	case MIGRATE_INTERRUPTED:
		return "interrupted";
	case MIGRATE_UNSURE:
		return "unsure";
	default:
		return "failed";
	}
}

int migrate_write_json(FILE *to, const struct migrate_options *o, const struct migrate_setup *s,
		       const struct migrate_events *e, const struct migrate_run *r,
		       const struct migrate_result *result)
{
	struct json_object *all = json_object_new_object();

	json_object_object_add(all, "domain", json_object_new_string(s->domain.name));
	json_object_object_add(all, "domid", json_object_new_int64(s->domain.id));
	json_object_object_add(all, "host", json_object_new_string(o->host));
	json_object_object_add(all, "result", json_object_new_string(word_for(result->exit)));
	json_object_object_add(all, "exit", json_object_new_int(result->exit));
	json_object_object_add(all, "error",
			       result->exit ? json_object_new_string(result->text) : NULL);
	json_object_object_add(all, "xl_status", json_object_new_int(r->status));
	json_object_object_add(all, "seconds", real(r->seconds));
	json_object_object_add(all, "receiver", s->over_connect ? NULL :
			       json_object_new_string(receiver(s)));
	json_object_object_add(all, "predicted_pause_ms", real(events_predicted(e)));
	json_object_object_add(all, "engine_pause_ms", real(events_pause(e)));
	json_object_object_add(all, "rounds", rounds_of(e));
	json_object_object_add(all, "save", json_object_get(e->save_end));
	json_object_object_add(all, "restore", json_object_get(e->restore_end));
	json_object_object_add(all, "unreadable_lines", json_object_new_int64((int64_t)e->unreadable));
	return cmd_write_json(to, all);
}
