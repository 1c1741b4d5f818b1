/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of `xenferry migrate`. */
#ifndef XENFERRY_CMD_MIGRATE_H
#define XENFERRY_CMD_MIGRATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd.h"

struct json_object;

enum {
	MIGRATE_STAYED = 1,	/* failed; the guest runs on here */
	MIGRATE_CANNOT = 3,	/* this host can't: rights, device, xl, helper */
	MIGRATE_NO_DOMAIN = 4,
	MIGRATE_NO_HOST = 5,	/* the other host can't be reached, or no xl answers there */
	MIGRATE_UNSURE = 6,	/* look at both ends */
	MIGRATE_INTERRUPTED = 130, /* the guest runs on here */
};

/* ---- options (cmd_migrate_options.c) -------------------------------------- */

struct migrate_options {
	const char *domain, *host;
	const char *ssh;
	const char *config;
	const char *json;
	int stock_receiver, debug, paused, quiet, verbose;
	/* Limits, as they were given; the helper reads them from its environment. NULL: its own defaults. */
	const char *max_pause, *max_rounds, *max_time, *max_bandwidth, *when_stuck, *tracker, *verify_content;
};
/* 0, or an exit status + 1 when there is no more to do. */
int migrate_parse(int argc, char **argv, struct migrate_options *o);

/* ---- other programs (cmd_process.c) ---------------------------------------- */

struct captured {
	int status;		/* exit status, 128 + signal, or 127 if it can't be started */
	char out[4096];		/* the beginning of its output, and of its errors */
	char err[4096];
};
/* Runs a program to its end, its input empty. 0 or a negative errno. */
int process_capture(char *const argv[], struct captured *c);
/* "WIFEXITED" and signals as one number, as a shell has it. */
int process_status(int wait_status);
/* The last line of a text that isn't empty; "" if there is none. Changes the text. */
const char *process_last_line(char *text);
#define ARG(s) ((char *)(uintptr_t)(s))	/* execv takes them without const */
/* Appends s in single quotes for a shell. 0, -ENOSPC. */
int process_quote(char *to, size_t room, const char *s);

/* ---- what has to be true before (cmd_migrate_check.c) ---------------------- */

struct migrate_domain {
	uint32_t id;
	char name[128];
	char state[16];		/* xl's letters, "-b----" */
	uint64_t mib;
};

struct migrate_setup {
	char xl[256];
	char helper[256];	/* ours, on this host */
	int local;		/* HOST is this host */
	int receiver_ours;	/* ours is installed there, and wanted */
	int over_connect;	/* HOST is reached by xenferry connect: its listener chooses who receives */
	struct migrate_domain domain;
};

/* 0, or an exit status; then the sentence has been printed. */
int migrate_check_here(struct migrate_setup *s);
int migrate_check_domain(const struct migrate_options *o, struct migrate_setup *s);
int migrate_check_host(const struct migrate_options *o, struct migrate_setup *s);
/* "exec SSH 'HOST'", to which a command for HOST is appended. 0, -ENOSPC. */
int migrate_rune(const struct migrate_options *o, char *rune, size_t room);
/* 0, -ESRCH if it isn't there (any more), or another negative errno. */
int migrate_query(const char *xl, const char *domain, struct migrate_domain *d);
/* Found by its id; runs now if it did before. */
int migrate_runs_as_before(const struct migrate_domain *before, const struct migrate_domain *now);

/* ---- statistics lines (cmd_migrate_events.c) -------------------------------- */

#define EVENT_ROUNDS 256
#define EVENT_LINE   8192

struct migrate_round {
	int64_t round, pages, bytes, dirty;
	double seconds;
	double t;			/* when it was told */
	/* -1: not known */
	double dirty_mib_s, predicted_pause_ms;
	int64_t cap;			/* percent of its CPU time the guest had */
	int paused;			/* the last copy */
};

struct migrate_events {
	uint32_t domid;			/* the sending side's */
	int any;			/* whichever starts last is the one */
	/* of the sending side */
	int started, suspended, ended;
	pid_t pid;			/* of its helper */
	double t_start;
	double t_round;			/* when the round at hand began */
	double t_now;			/* of the last line */
	double t_suspended, suspend_ms;
	int64_t round, sent, of;	/* of the last progress line */
	int64_t bytes;			/* so far, -1: not known */
	double dirty_mib_s;		/* as it was in the round before, -1: not known */
	struct migrate_round rounds[EVENT_ROUNDS];
	size_t n_rounds;		/* seen; those beyond EVENT_ROUNDS aren't kept */
	struct json_object *save_end, *restore_end;
	double t_save_end, t_restore_end;
	/* of both */
	uint64_t lines, unreadable;
	uint64_t first_unreadable;	/* its number, from 1 */
	char line[EVENT_LINE];		/* the one that is still coming in */
	size_t have;
	int overlong;
};

enum { EVENT_NONE, EVENT_STARTED = 1, EVENT_PROGRESS = 2, EVENT_ROUND = 4, EVENT_SUSPENDED = 8,
       EVENT_ENDED = 16, EVENT_OTHERS = 32 };

void events_init(struct migrate_events *e, uint32_t domid);
/* For a file in which several may stand. */
void events_init_any(struct migrate_events *e);
void events_free(struct migrate_events *e);
/* Bytes as they come; returns the EVENT_ bits of what was in them. */
unsigned events_feed(struct migrate_events *e, const char *p, size_t n);
/* A number of an object, or fallback where it is missing or no number. */
double events_real(struct json_object *o, const char *key, double fallback);
int64_t events_count(struct json_object *o, const char *key, int64_t fallback);
/* A string of an object, or "". */
const char *events_text(struct json_object *o, const char *key);
/* What a round's object says, of a statistics line or of a result. 0, or -1 where it makes no sense. */
int events_round(struct json_object *o, struct migrate_round *r);
/* Pages a second of the round at hand, 0: not known. */
double events_rate(const struct migrate_events *e);
/* Seconds until the guest is suspended, if it goes on like this; below 0: nobody knows. */
double events_left(const struct migrate_events *e);
/* As it was predicted when the last round but the last copy ended, in ms; -1: not known. */
double events_predicted(const struct migrate_events *e);
/* Suspended until both sides were done, in ms; -1 where that isn't known. */
double events_pause(const struct migrate_events *e);

/* ---- running xl (cmd_migrate_run.c) ------------------------------------------ */

#define RUN_LOG (256u << 10)

struct migrate_run {
	int status;		/* xl's, as process_status */
	int interrupts;		/* how often the user asked to stop */
	double seconds;
	char *log;		/* what xl and the other side said: the last RUN_LOG bytes */
	size_t log_len;
};
/* 0 once xl ran to its end, or an exit status; then the sentence has been printed. */
int migrate_run(const struct migrate_options *o, const struct migrate_setup *s,
		struct migrate_events *e, struct migrate_run *r);

/* ---- the end of it (cmd_migrate_report.c) ------------------------------------- */

struct migrate_result {
	int exit;
	char text[1024];	/* the sentence, "" if the guest has moved */
};
/* Asks xl where the guest is now, and says so. */
void migrate_judge(const struct migrate_options *o, const struct migrate_setup *s,
		   const struct migrate_run *r, struct migrate_result *result);
void migrate_print(const struct migrate_options *o, const struct migrate_setup *s,
		   const struct migrate_events *e, const struct migrate_run *r,
		   const struct migrate_result *result);
/* 0 or a negative errno. */
int migrate_write_json(FILE *to, const struct migrate_options *o, const struct migrate_setup *s,
		       const struct migrate_events *e, const struct migrate_run *r,
		       const struct migrate_result *result);

#endif
