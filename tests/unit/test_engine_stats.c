/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of docs/statistics.md, as a migration writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enginejob.h"

#include <xen/hvm/params.h>

#define LINES 200

struct lines {
	char path[64];
	struct json_object *line[LINES];
	unsigned n;
};

static void lines_open(struct lines *l)
{
	int fd;

	memset(l, 0, sizeof(*l));
	strcpy(l->path, "/tmp/xenferry-stats-XXXXXX");
	fd = mkstemp(l->path);
	assert_true(fd >= 0);
	close(fd);
}

/* Each line is an object of its own. */
static void lines_read(struct lines *l)
{
	char text[2048];
	FILE *f = fopen(l->path, "r");

	assert_non_null(f);
	while (fgets(text, sizeof(text), f)) {
		assert_true(l->n < LINES);
		assert_int_equal(text[strlen(text) - 1], '\n');
		l->line[l->n] = json_tokener_parse(text);
		assert_non_null(l->line[l->n]);
		l->n++;
	}
	fclose(f);
}

static void lines_close(struct lines *l)
{
	for (unsigned i = 0; i < l->n; i++)
		json_object_put(l->line[i]);
	unlink(l->path);
}

static struct json_object *key(struct json_object *line, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(line, name, &value) ? value : NULL;
}

static int64_t number(struct json_object *line, const char *name)
{
	struct json_object *value = key(line, name);

	if (!value)
		fail_msg("no key %s in %s", name, json_object_to_json_string(line));
	return json_object_get_int64(value);
}

static const char *text_of(struct json_object *line, const char *name)
{
	struct json_object *value = key(line, name);

	return value ? json_object_get_string(value) : "";
}

/* The nth line of an event, NULL if there are fewer. */
static struct json_object *event(struct lines *l, const char *side, const char *name, unsigned nth)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(text_of(l->line[i], "event"), name) &&
		    !strcmp(text_of(l->line[i], "side"), side) && nth-- == 0)
			return l->line[i];
	return NULL;
}

static void make_source(struct simguest *s)
{
	sim_init(s, 1100, false);
	sim_fill(s, 0, 1000);
	s->params[HVM_PARAM_STORE_PFN] = 999;
	s->run = sim_work;
}

static void what_a_migration_writes(void **state)
{
	struct xf_transport_mem t;
	struct simguest from, to;
	struct job save, restore;
	struct json_object *end, *pause;
	struct lines l;
	unsigned rounds = 0;
	int64_t pages = 0;

	(void)state;
	lines_open(&l);
	make_source(&from);
	sim_init(&to, 1100, true);
	job_init(&save, &from);
	job_init(&restore, &to);
	assert_int_equal(stats_open(&save.stats, l.path, "save", "ours", 7), 0);
	assert_int_equal(stats_open(&restore.stats, l.path, "restore", "ours", 8), 0);
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	assert_int_equal(job_save(&save, &t.base), 0);
	assert_int_equal(job_restore(&restore, &t.base), 0);
	lines_read(&l);

	for (unsigned i = 0; i < l.n; i++) {
		assert_string_equal(text_of(l.line[i], "engine"), "ours");
		assert_int_equal(number(l.line[i], "pid"), getpid());
		assert_non_null(key(l.line[i], "t"));
	}
	assert_int_equal(number(event(&l, "save", "start", 0), "pages"), 1100);
	assert_int_equal(number(event(&l, "save", "start", 0), "domid"), 7);
	/* Nothing has gone but the headers, nor has a round ended that would say how fast the guest dirties. */
	assert_in_range(number(event(&l, "save", "progress", 0), "bytes"), 1, 4096);
	assert_null(key(event(&l, "save", "progress", 0), "dirty_mib_s"));
	assert_non_null(event(&l, "save", "suspended", 0));
	for (struct json_object *r; (r = event(&l, "save", "round", rounds)); rounds++) {
		assert_int_equal(number(r, "round"), rounds);
		assert_true(number(r, "bytes") > number(r, "pages") * 4096);
		pages += number(r, "pages");
	}
	assert_int_equal(number(event(&l, "save", "round", 0), "pages"), 1000);
	assert_in_range(number(event(&l, "save", "round", 0), "dirty"), 1, 1000);
	assert_int_equal(number(event(&l, "save", "round", rounds - 1), "dirty"), -1);

	end = event(&l, "save", "end", 0);
	assert_int_equal(number(end, "result"), 0);
	assert_int_equal(number(end, "rounds"), rounds);
	assert_int_equal(number(end, "pages"), pages);
	assert_in_range(number(end, "zero_pages"), 1, 250);
	assert_string_equal(text_of(end, "tracker"), "log-dirty");
	assert_null(key(end, "scan_mib_s"));
	assert_int_equal(number(end, "bytes"), t.size);
	assert_non_null(key(end, "total_s"));
	assert_non_null(key(end, "memory_s"));
	pause = key(end, "pause");
	assert_non_null(key(pause, "suspend_ms"));
	assert_non_null(key(pause, "collect_ms"));
	assert_non_null(key(pause, "last_copy_ms"));
	assert_non_null(key(pause, "state_ms"));
	assert_non_null(key(pause, "release_ms"));

	assert_non_null(event(&l, "restore", "start", 0));
	end = event(&l, "restore", "end", 0);
	assert_int_equal(number(end, "domid"), 8);
	assert_int_equal(number(end, "bytes"), t.size);
	assert_int_equal(number(end, "pages"), pages);
	assert_non_null(key(end, "apply_ms"));
	assert_non_null(key(end, "give_back_ms"));
	assert_non_null(key(end, "complete_ms"));

	stats_close(&save.stats);
	stats_close(&restore.stats);
	lines_close(&l);
	xf_transport_mem_free(&t);
	sim_free(&from);
	sim_free(&to);
}

/* What has gone so far, and how fast the guest dirtied memory in the round before. */
static void what_progress_says(void **state)
{
	struct xf_transport_mem t;
	struct simguest from;
	struct json_object *line;
	struct lines l;
	struct job j;
	unsigned n = 0;

	(void)state;
	lines_open(&l);
	make_source(&from);
	job_init(&j, &from);
	/* A round shall take longer than two lines are apart. */
	j.max_bandwidth = 8 << 20;
	assert_int_equal(stats_open(&j.stats, l.path, "save", "ours", 7), 0);
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	assert_int_equal(job_save(&j, &t.base), 0);
	lines_read(&l);
	do
		line = event(&l, "save", "progress", n++);
	while (line && !number(line, "round"));
	assert_non_null(line);
	assert_true(number(line, "bytes") > 1000 * 4096);
	assert_true(json_object_get_double(key(line, "dirty_mib_s")) > 0);
	stats_close(&j.stats);
	lines_close(&l);
	xf_transport_mem_free(&t);
	sim_free(&from);
}

static void what_a_comparison_writes(void **state)
{
	struct xf_transport_mem t;
	struct simguest from;
	struct json_object *end, *round;
	struct lines l;
	struct job j;

	(void)state;
	lines_open(&l);
	make_source(&from);
	from.no_log_dirty = true;
	job_init(&j, &from);
	assert_int_equal(stats_open(&j.stats, l.path, "save", "ours", 7), 0);
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	assert_int_equal(job_save(&j, &t.base), 0);
	lines_read(&l);
	round = event(&l, "save", "round", 0);
	assert_in_range(number(round, "dirty"), 1, 1000);
	assert_non_null(key(round, "scan_ms"));
	assert_non_null(key(round, "scan_mib_s"));
	end = event(&l, "save", "end", 0);
	assert_string_equal(text_of(end, "tracker"), "content");
	assert_non_null(key(end, "scan_mib_s"));
	stats_close(&j.stats);
	lines_close(&l);
	xf_transport_mem_free(&t);
	sim_free(&from);
}

static void what_a_failure_writes(void **state)
{
	struct xf_transport_mem t;
	struct simguest from;
	struct json_object *end;
	struct lines l;
	struct job j;

	(void)state;
	lines_open(&l);
	make_source(&from);
	job_init(&j, &from);
	j.refuse_suspend = true;
	assert_int_equal(stats_open(&j.stats, l.path, "save", "ours", 7), 0);
	assert_int_equal(xf_transport_mem_init(&t, NULL, 0), 0);
	assert_int_equal(job_save(&j, &t.base), -EIO);
	lines_read(&l);
	end = event(&l, "save", "end", 0);
	assert_int_equal(number(end, "result"), -EIO);
	assert_null(event(&l, "save", "suspended", 0));
	/* What was not measured is not there. */
	assert_null(key(end, "memory_s"));
	assert_null(key(key(end, "pause"), "suspend_ms"));
	stats_close(&j.stats);
	lines_close(&l);
	xf_transport_mem_free(&t);
	sim_free(&from);
}

static void nobody_wants_them(void **state)
{
	struct stats s;

	(void)state;
	assert_int_equal(stats_open(&s, NULL, "save", "ours", 1), 0);
	assert_false(stats_wanted(&s));
	stats_save_start(&s, 1, true);
	assert_int_equal(stats_open(&s, "", "save", "ours", 1), 0);
	assert_false(stats_wanted(&s));
	assert_int_equal(stats_open(&s, "/nowhere/at/all", "save", "ours", 1), -ENOENT);
	assert_false(stats_wanted(&s));
	stats_suspended(&s, 1);
	stats_close(&s);
}

/* A pipe nobody reads from must not hang a migration. */
static void fifo_without_reader(void **state)
{
	char path[64];
	struct stats s;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/xenferry-fifo-%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(stats_open(&s, path, "save", "ours", 1), -ENXIO);
	assert_false(stats_wanted(&s));
	unlink(path);
}

/* A pipe for statistics with a reader, non-blocking. */
static int fifo_with_reader(char path[64], struct stats *s)
{
	int reader;

	snprintf(path, 64, "/tmp/xenferry-fifo-%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(stats_open(s, path, "save", "ours", 1), 0);
	return reader;
}

static void reader_goes_away(void **state)
{
	struct stats s;
	char path[64];
	int reader = fifo_with_reader(path, &s);

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	stats_suspended(&s, 1);
	assert_true(stats_wanted(&s));
	close(reader);
	stats_suspended(&s, 1);		/* would kill us */
	assert_false(stats_wanted(&s));
	stats_close(&s);
	unlink(path);
}

/* Lines are dropped, whole ones; what comes after the reader caught up is written. */
static void reader_is_behind(void **state)
{
	struct stats s;
	char path[64], text[1 << 17];
	int reader = fifo_with_reader(path, &s);
	size_t n = 0;
	ssize_t got;

	(void)state;
	assert_true(fcntl(s.fd, F_SETPIPE_SZ, 4096) > 0);
	for (int i = 0; i < 500; i++)
		stats_suspended(&s, i);
	assert_true(stats_wanted(&s));
	while ((got = read(reader, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	stats_suspended(&s, 777);
	while ((got = read(reader, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	assert_non_null(strstr(text, "777.000"));
	assert_null(strstr(text, "499.000"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		struct json_object *o = json_tokener_parse(line);

		assert_non_null(o);
		json_object_put(o);
	}
	stats_close(&s);
	close(reader);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_migration_writes),
		cmocka_unit_test(what_progress_says),
		cmocka_unit_test(what_a_comparison_writes),
		cmocka_unit_test(what_a_failure_writes),
		cmocka_unit_test(nobody_wants_them),
		cmocka_unit_test(fifo_without_reader),
		cmocka_unit_test(reader_goes_away),
		cmocka_unit_test(reader_is_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
