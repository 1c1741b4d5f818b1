// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/clock.h"

#define PROGRESS_INTERVAL_S 0.25

/* How long a line waits for a reader that is behind. */
#define PATIENCE_MS 200

int stats_open(struct stats *s, const char *path, const char *side,
	       const char *engine, uint32_t domid)
{
	*s = (struct stats) {
		.fd = -1, .side = side, .engine = engine, .domid = domid, .started = clock_now(),
	};
	if (!path || !*path)
		return 0;
	/* O_NONBLOCK: a FIFO without a reader is an error, not a hang. */
	s->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
	return s->fd < 0 ? -errno : 0;
}

void stats_close(struct stats *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void add_real(struct json_object *line, const char *key, double value, const char *format)
{
	char text[64];

	snprintf(text, sizeof(text), format, value);
	json_object_object_add(line, key, json_object_new_double_s(value, text));
}

static void add_count(struct json_object *line, const char *key, int64_t value)
{
	if (value >= 0)
		json_object_object_add(line, key, json_object_new_int64(value));
}

static void add_ms(struct json_object *line, const char *key, double value)
{
	if (value >= 0)
		add_real(line, key, value, "%.3f");
}

static void add_dirty_rate(struct json_object *line, double pages_a_second)
{
	if (pages_a_second >= 0)
		add_real(line, "dirty_mib_s", pages_a_second / 256, "%.3f");
}

static struct json_object *begin(const struct stats *s, const char *event)
{
	struct json_object *line = json_object_new_object();

	if (!line)
		return NULL;
	json_object_object_add(line, "event", json_object_new_string(event));
	json_object_object_add(line, "side", json_object_new_string(s->side));
	json_object_object_add(line, "engine", json_object_new_string(s->engine));
	json_object_object_add(line, "domid", json_object_new_int64(s->domid));
	json_object_object_add(line, "pid", json_object_new_int64(getpid()));
	add_real(line, "t", clock_now(), "%.6f");
	return line;
}

/* A reader that went away is an error, not a signal that ends a migration. */
static ssize_t write_quietly(int fd, const char *text, size_t n)
{
	static const struct timespec now = { 0, 0 };
	sigset_t pipe, before;
	ssize_t put;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	put = write(fd, text, n);
	if (put < 0 && errno == EPIPE)
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return put;
}

static ssize_t write_patiently(struct stats *s, const char *text, size_t n)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };
	ssize_t put = write_quietly(s->fd, text, n);

	if (put < 0 && errno == EAGAIN && !s->behind && poll(&p, 1, PATIENCE_MS) > 0)
		put = write_quietly(s->fd, text, n);
	return put;
}

/*
 * One write a line: both ends of a localhost migration may append to one file.
 * Figures that can't be written must not stop a migration: a reader that is
 * behind is waited for once and a little, then lines are dropped until it has
 * caught up.
 */
static void put_line(struct stats *s, const char *text, size_t n)
{
	ssize_t put = write_patiently(s, text, n);

	s->behind = put < 0 && errno == EAGAIN;
	/* Half a line would spoil the file; no more than one gets there. */
	if (put != (ssize_t)n && !s->behind)
		stats_close(s);
}

static void finish(struct stats *s, struct json_object *line)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "%s\n",
			 json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));

	if (n > 0 && (size_t)n < sizeof(text))
		put_line(s, text, (size_t)n);
	json_object_put(line);
}

void stats_save_start(struct stats *s, uint64_t pages, bool live)
{
	struct json_object *line = stats_wanted(s) ? begin(s, "start") : NULL;

	if (!line)
		return;
	add_count(line, "pages", (int64_t)pages);
	json_object_object_add(line, "live", json_object_new_boolean(live));
	finish(s, line);
}

void stats_restore_start(struct stats *s, uint64_t pages)
{
	struct json_object *line = stats_wanted(s) ? begin(s, "start") : NULL;

	if (!line)
		return;
	add_count(line, "pages", (int64_t)pages);
	finish(s, line);
}

void stats_progress(struct stats *s, const struct stats_progress *p)
{
	double now = clock_now();
	struct json_object *line;

	if (!stats_wanted(s) || now - s->last_progress < PROGRESS_INTERVAL_S)
		return;
	s->last_progress = now;
	line = begin(s, "progress");
	if (!line)
		return;
	add_count(line, "round", p->round);
	add_count(line, "sent", (int64_t)p->sent);
	add_count(line, "of", (int64_t)p->of);
	add_count(line, "bytes", (int64_t)p->bytes);
	add_dirty_rate(line, p->dirty_rate);
	finish(s, line);
}

static void add_scan_rate(struct json_object *line, uint64_t pages, double seconds)
{
	if (seconds > 0)
		add_real(line, "scan_mib_s", (double)pages / 256 / seconds, "%.3f");
}

void stats_round(struct stats *s, const struct stats_round *r)
{
	struct json_object *line = stats_wanted(s) ? begin(s, "round") : NULL;

	if (!line)
		return;
	add_count(line, "round", r->round);
	add_count(line, "pages", (int64_t)r->pages);
	add_count(line, "bytes", (int64_t)r->bytes);
	add_real(line, "seconds", r->seconds, "%.6f");
	add_real(line, "mib_s", r->seconds > 0 ? (double)r->bytes / 1048576 / r->seconds : 0, "%.3f");
	json_object_object_add(line, "dirty", json_object_new_int64(r->dirty));
	add_dirty_rate(line, r->dirty_rate);
	add_ms(line, "predicted_pause_ms", r->pause_ms);
	add_ms(line, "scan_ms", r->scan_ms);
	add_scan_rate(line, r->scanned, r->scan_ms / 1e3);
	if (r->cap && r->cap < 100)
		add_count(line, "cap", r->cap);
	finish(s, line);
}

void stats_suspended(struct stats *s, double suspend_ms)
{
	struct json_object *line = stats_wanted(s) ? begin(s, "suspended") : NULL;

	if (!line)
		return;
	add_ms(line, "suspend_ms", suspend_ms);
	finish(s, line);
}

/* Of this process so far, what it spent in the hypervisor included. */
static void add_cpu(struct json_object *line)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used))
		return;
	add_real(line, "cpu_s", (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6, "%.3f");
}

static void add_spent(struct json_object *line, const struct spent *spent)
{
	struct json_object *o = spent ? json_object_new_object() : NULL;

	if (!o)
		return;
	add_real(o, "types", spent->types, "%.3f");
	add_real(o, "populate", spent->populate, "%.3f");
	add_real(o, "map", spent->map, "%.3f");
	add_real(o, "zero", spent->zero, "%.3f");
	add_real(o, "io", spent->io, "%.3f");
	add_real(o, "dirty", spent->dirty, "%.3f");
	json_object_object_add(line, "spent_s", o);
}

void stats_save_end(struct stats *s, const struct stats_save_end *e)
{
	struct json_object *line = stats_wanted(s) ? begin(s, "end") : NULL;
	struct json_object *pause;

	if (!line)
		return;
	json_object_object_add(line, "result", json_object_new_int(e->result));
	add_real(line, "total_s", clock_now() - s->started, "%.6f");
	if (e->memory_s >= 0)
		add_real(line, "memory_s", e->memory_s, "%.6f");
	add_count(line, "bytes", e->bytes);
	add_count(line, "rounds", e->rounds);
	add_count(line, "pages", e->pages);
	add_count(line, "zero_pages", e->zero_pages);
	add_count(line, "elided", e->elided);
	if (e->tracker)
		json_object_object_add(line, "tracker", json_object_new_string(e->tracker));
	add_scan_rate(line, e->scanned, e->scan_s);
	if (e->stopped_for)
		json_object_object_add(line, "stopped_for", json_object_new_string(e->stopped_for));
	pause = json_object_new_object();
	if (pause) {
		add_ms(pause, "suspend_ms", e->suspend_ms);
		add_ms(pause, "collect_ms", e->collect_ms);
		add_ms(pause, "last_copy_ms", e->last_copy_ms);
		add_ms(pause, "state_ms", e->state_ms);
		add_ms(pause, "release_ms", e->release_ms);
		json_object_object_add(line, "pause", pause);
	}
	add_cpu(line);
	add_spent(line, e->spent);
	finish(s, line);
}

void stats_restore_end(struct stats *s, const struct stats_restore_end *e)
{
	struct json_object *line = stats_wanted(s) ? begin(s, "end") : NULL;

	if (!line)
		return;
	json_object_object_add(line, "result", json_object_new_int(e->result));
	add_real(line, "total_s", clock_now() - s->started, "%.6f");
	add_count(line, "bytes", e->bytes);
	add_count(line, "pages", e->pages);
	add_count(line, "cleared", e->cleared);
	add_count(line, "put_right", e->put_right);
	add_ms(line, "apply_ms", e->apply_ms);
	add_ms(line, "give_back_ms", e->give_back_ms);
	add_ms(line, "complete_ms", e->complete_ms);
	add_cpu(line);
	add_spent(line, e->spent);
	finish(s, line);
}
