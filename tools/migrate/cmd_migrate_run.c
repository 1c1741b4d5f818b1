/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs xl, follows the statistics, and stops it decently when asked to. */
#include "cmd_migrate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/peer_note.h"

#define STOP_WAIT_US 3000000	/* for a helper to show up before xl itself is stopped */

struct running {
	const struct migrate_options *o;
	const struct migrate_setup *s;
	struct migrate_events *e;
	struct migrate_run *r;
	struct cmd_bar bar;
	char dir[32], fifo[48];
	int stats, err, signals;
	pid_t xl;
	int gone;		/* xl has ended */
	uint64_t stop_at_us;	/* when xl is stopped if no helper showed up; 0: no such plan */
	size_t told;		/* rounds printed */
};

/* ---- the private directory with the FIFO -------------------------------- */

static int open_stats(struct running *g)
{
	strcpy(g->dir, "/tmp/xenferry-XXXXXX");
	if (!mkdtemp(g->dir)) {
		g->dir[0] = '\0';
		return -errno;
	}
	snprintf(g->fifo, sizeof(g->fifo), "%s/stats", g->dir);
	if (mkfifo(g->fifo, 0600))
		return -errno;
	/* Both ends, so that helpers may come and go without an end of file. */
	g->stats = open(g->fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return g->stats < 0 ? -errno : 0;
}

static void close_stats(struct running *g)
{
	if (g->stats >= 0)
		close(g->stats);
	if (!g->dir[0])
		return;
	unlink(g->fifo);
	rmdir(g->dir);
}

/* ---- xl ------------------------------------------------------------------- */

/*
 * What runs at the other end, of words that need no quoting. The environment
 * of a shell on this host would have our helper, so the stock receiver says no.
 */
static int build_rune(const struct running *g, char *rune, size_t room)
{
	size_t at;
	int n;

	if (migrate_rune(g->o, rune, room))
		return -ENOSPC;
	at = strlen(rune);
	if (g->s->over_connect)
		n = snprintf(rune + at, room - at, " xl");
	else if (!g->s->receiver_ours)
		n = snprintf(rune + at, room - at, " env -u LIBXL_SAVE_HELPER -u XENFERRY_STATS xl");
	else if (g->s->local)
		n = snprintf(rune + at, room - at, " env LIBXL_SAVE_HELPER=%s XENFERRY_STATS=%s xl",
			     g->s->helper, g->fifo);
	else
		n = snprintf(rune + at, room - at, " env LIBXL_SAVE_HELPER=%s xl", XENFERRY_HELPER);
	if (n < 0 || (size_t)n >= room - at)
		return -ENOSPC;
	at += (size_t)n;
	n = snprintf(rune + at, room - at, " migrate-receive%s%s", g->o->debug ? " -d" : "",
		     g->o->paused ? " -p" : "");
	return n < 0 || (size_t)n >= room - at ? -ENOSPC : 0;
}

/* What the sending helper finds in its environment. 0, -1. */
static int tell_helper(const struct running *g)
{
	const struct migrate_options *o = g->o;
	const struct xf_peer_note ours = { .version = XENFERRY_VERSION, .features = XF_FEATURES_OF_ENGINE };
	const char *told[][2] = {
		{ "LIBXL_SAVE_HELPER", g->s->helper }, { "XENFERRY_STATS", g->fifo },
		{ "XENFERRY_MAX_PAUSE", o->max_pause }, { "XENFERRY_MAX_ROUNDS", o->max_rounds },
		{ "XENFERRY_MAX_TIME", o->max_time }, { "XENFERRY_MAX_BANDWIDTH", o->max_bandwidth },
		{ "XENFERRY_WHEN_STUCK", o->when_stuck }, { "XENFERRY_TRACKER", o->tracker },
		{ "XENFERRY_VERIFY_CONTENT", o->verify_content },
	};
	char note[XF_PEER_NOTE];

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (told[i][1] && setenv(told[i][0], told[i][1], 1))
			return -1;
	/* On this host the receiver is of our own version; of another host's nothing is known here. */
	if (g->s->local && g->s->receiver_ours)
		return setenv(XF_PEER_VARIABLE, xf_peer_note_text(&ours, note), 1);
	return unsetenv(XF_PEER_VARIABLE);
}

static void child(const struct running *g, char *rune, int err)
{
	char *argv[12], id[16];
	sigset_t none;
	int n = 0, null;

	/* The terminal's signals are for us; xl and ssh stay on it for questions about passwords. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(id, sizeof(id), "%" PRIu32, g->s->domain.id);
	argv[n++] = ARG(g->s->xl);
	argv[n++] = ARG("migrate");
	if (g->o->debug)
		argv[n++] = ARG("--debug");
	if (g->o->config) {
		argv[n++] = ARG("-C");
		argv[n++] = ARG(g->o->config);
	}
	argv[n++] = ARG("-s");
	argv[n++] = ARG("");
	argv[n++] = id;
	argv[n++] = rune;
	argv[n] = NULL;
	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || dup2(err, 1) < 0 || dup2(err, 2) < 0 ||
	    tell_helper(g))
		_exit(127);
	execv(g->s->xl, argv);
	dprintf(2, "%s: %s\n", g->s->xl, strerror(errno));
	_exit(127);
}

static int start(struct running *g)
{
	char rune[1536];
	int err[2];

	if (build_rune(g, rune, sizeof(rune)))
		return -ENAMETOOLONG;
	if (pipe2(err, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* Only our end may be non-blocking: xl's writes must not fail. */
	fcntl(err[1], F_SETFL, 0);
	fflush(NULL);
	g->xl = fork();
	if (!g->xl)
		child(g, rune, err[1]);
	close(err[1]);
	g->err = err[0];
	return g->xl < 0 ? -errno : 0;
}

/* ---- what comes in -------------------------------------------------------- */

/* Keeps the last RUN_LOG bytes. */
static void keep(struct migrate_run *r, const char *p, size_t n)
{
	if (r->log_len + n > RUN_LOG) {
		size_t drop = r->log_len + n - RUN_LOG;

		memmove(r->log, r->log + drop, r->log_len - drop);
		r->log_len -= drop;
	}
	memcpy(r->log + r->log_len, p, n);
	r->log_len += n;
	r->log[r->log_len] = '\0';
}

/* The other host's words go to our user's terminal: no escape sequences. */
static void defuse(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)p[i] < ' ' && !strchr("\t\r\n", p[i])) || p[i] == 0x7f || !p[i])
			p[i] = '?';
}

static void take_log(struct running *g)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(g->err, buf, sizeof(buf))) > 0) {
		defuse(buf, (size_t)n);
		keep(g->r, buf, (size_t)n);
		if (g->o->verbose) {
			cmd_bar_hide(&g->bar);
			fwrite(buf, 1, (size_t)n, stderr);
		}
	}
	if (!n) {
		close(g->err);
		g->err = -1;
	}
}

/* Behind what is there already, as far as there is room. */
static void __attribute__((format(printf, 3, 4)))
add(char *text, size_t room, const char *fmt, ...)
{
	size_t at = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + at, room - at, fmt, args);
	va_end(args);
}

static void show_progress(struct running *g)
{
	const struct migrate_events *e = g->e;
	double rate = events_rate(e), pause = events_predicted(e), left = events_left(e);
	int64_t pages = e->of > e->sent ? e->of - e->sent : 0;
	char text[200] = "", size[32];

	if (e->ended) {
		cmd_bar_show(&g->bar, 1, 1, "all sent, the other side takes over");
		return;
	}
	add(text, sizeof(text), "round %" PRId64 "%s  %" PRId64 " left", e->round, e->suspended ? " (paused)" : "",
	    pages);
	if (rate > 0)
		add(text, sizeof(text), "  %.1f MiB/s", rate * 4096 / 1048576);
	if (pause >= 0 && !e->suspended)
		add(text, sizeof(text), "  pause %.2f s", pause / 1000);
	/* Until a round has ended nobody knows what comes behind it. */
	if (left >= 0 && left < 360000)
		add(text, sizeof(text), "  %d:%02d to go", (int)left / 60, (int)left % 60);
	else if (rate > 0 && (double)pages / rate < 360000)
		add(text, sizeof(text), "  over %d:%02d to go", (int)((double)pages / rate) / 60,
		    (int)((double)pages / rate) % 60);
	/* A terminal of 80 columns has no room for what follows. */
	if (e->dirty_mib_s >= 0 && !e->suspended)
		add(text, sizeof(text), "  dirties %.1f MiB/s", e->dirty_mib_s);
	if (e->bytes >= 0)
		add(text, sizeof(text), "  %s sent", cmd_size(size, (uint64_t)e->bytes));
	cmd_bar_show(&g->bar, (uint64_t)e->sent, e->of ? (uint64_t)e->of : 1, text);
}

/* Without a terminal: a line for each round. */
static void tell_rounds(struct running *g)
{
	const struct migrate_events *e = g->e;

	for (; g->told < e->n_rounds && g->told < EVENT_ROUNDS; g->told++) {
		const struct migrate_round *r = &e->rounds[g->told];
		char size[32], dirty[64] = "", pause[64] = "";

		if (r->dirty >= 0)
			snprintf(dirty, sizeof(dirty), ", %" PRId64 " dirty since", r->dirty);
		if (r->predicted_pause_ms >= 0)
			snprintf(pause, sizeof(pause), ", the pause would be %.0f ms", r->predicted_pause_ms);
		fprintf(stderr, "round %" PRId64 ": %" PRId64 " pages, %s in %.2f s%s%s\n", r->round,
			r->pages, cmd_size(size, (uint64_t)r->bytes), r->seconds, dirty, pause);
	}
}

static void take_stats(struct running *g)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(g->stats, buf, sizeof(buf))) > 0)
		events_feed(g->e, buf, (size_t)n);
	if (g->o->quiet)
		return;
	if (g->bar.on)
		show_progress(g);
	else
		tell_rounds(g);
}

/* ---- stopping -------------------------------------------------------------- */

/* Is it a child of xl, as the line claims? */
static int is_xls(const struct running *g, pid_t pid)
{
	char path[32], stat[512];
	const char *p;
	ssize_t n;
	int fd, ppid = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	stat[n] = '\0';
	p = strrchr(stat, ')');		/* the name before it may hold anything */
	return p && sscanf(p + 1, " %*c %d", &ppid) == 1 && ppid == g->xl;
}

/*
 * A save helper that gets SIGTERM fails its next write, puts the guest to
 * rights, and lets xl resume it: Xen's own way to stop. Before there is one,
 * nothing has been done to the guest, and xl may be stopped itself.
 */
static void stop(struct running *g)
{
	if (g->gone)
		return;
	if (g->e->ended) {
		g->stop_at_us = 0;
		cmd_bar_hide(&g->bar);
		fprintf(stderr, "Too late to stop: the domain is being handed over.\n");
	} else if (g->e->pid && is_xls(g, g->e->pid)) {
		g->stop_at_us = 0;
		kill(g->e->pid, SIGTERM);
	} else if (!g->stop_at_us) {
		g->stop_at_us = cmd_now_us() + STOP_WAIT_US;
	} else {
		kill(g->xl, SIGTERM);
	}
}

static void take_signals(struct running *g)
{
	struct signalfd_siginfo info;
	int status;

	while (read(g->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			g->r->interrupts++;
			cmd_bar_hide(&g->bar);
			fprintf(stderr, "Stopping: waiting for xl to put the domain to rights.\n");
			stop(g);
		} else if (!g->gone && waitpid(g->xl, &status, WNOHANG) == g->xl) {
			g->gone = 1;
			g->r->status = process_status(status);
		}
	}
}

/* ---- the loop --------------------------------------------------------------- */

static void follow(struct running *g)
{
	while (!g->gone) {
		struct pollfd p[] = {
			{ .fd = g->stats, .events = POLLIN }, { .fd = g->err, .events = POLLIN },
			{ .fd = g->signals, .events = POLLIN },
		};
		int was_started = g->e->pid != 0;

		poll(p, 3, g->stop_at_us ? 200 : 1000);
		take_stats(g);
		if (g->err >= 0)
			take_log(g);
		take_signals(g);
		if (!g->stop_at_us)
			continue;
		if (!was_started && g->e->pid)
			stop(g);
		else if (cmd_now_us() >= g->stop_at_us)
			kill(g->xl, SIGTERM);
	}
	/* What was said last; a daemon of the other side may hold the pipe open, so no waiting. */
	take_stats(g);
	if (g->err >= 0)
		take_log(g);
	cmd_bar_hide(&g->bar);
}

static int fail_to_start(const struct running *g, int ret, const char *what)
{
	return cmd_fail("migrate", MIGRATE_CANNOT, "%s failed (%s): expected to start xl with it; nothing"
			" was done to domain \"%s\".", what, strerror(-ret), g->s->domain.name);
}

/* As nohup and shells' background jobs have it; it shall stay so. */
static int is_ignored(int signo)
{
	struct sigaction now;

	return !sigaction(signo, NULL, &now) && now.sa_handler == SIG_IGN;
}

static int run(struct running *g)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t mask, before;
	uint64_t t0 = cmd_now_us();
	int ret;

	ret = open_stats(g);
	if (ret)
		return fail_to_start(g, ret, "Making a FIFO under /tmp");
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		if (!is_ignored(stops[i]))
			sigaddset(&mask, stops[i]);
	sigprocmask(SIG_BLOCK, &mask, &before);
	g->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	ret = g->signals < 0 ? -errno : start(g);
	if (ret)
		ret = fail_to_start(g, ret, "Starting xl");
	else
		follow(g);
	if (g->signals >= 0)
		close(g->signals);
	if (g->err >= 0)
		close(g->err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	g->r->seconds = (double)(cmd_now_us() - t0) / 1e6;
	return ret;
}

int migrate_run(const struct migrate_options *o, const struct migrate_setup *s,
		struct migrate_events *e, struct migrate_run *r)
{
	struct running g = { .o = o, .s = s, .e = e, .r = r, .stats = -1, .err = -1, .signals = -1 };
	int ret;

	*r = (struct migrate_run){ .log = malloc(RUN_LOG + 1) };
	if (!r->log)
		return fail_to_start(&g, -ENOMEM, "Allocating memory");
	r->log[0] = '\0';
	cmd_bar_init(&g.bar, !o->quiet);
	ret = run(&g);
	close_stats(&g);
	return ret;
}
