// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The guest's only program, started by its kernel as /init. Options stand on the kernel's command line and arrive
 * as environment variables:
 *   xf_mib=N     memory under watch
 *   xf_dirty=N   how many MiB of it are rewritten, round and round
 *   xf_rate=R    MiB/s; 0 = idle, max = without pause
 *   xf_fill=F    random, or zero: what it holds at first
 *   xf_churn=yes another process that makes and frees page tables without pause (churn.h)
 * Commands on the console (TOKEN comes back with the answer):
 *   sweep TOKEN    check every page once from now on, then answer
 *   gap TOKEN      longest gaps between two looks at the clocks; starts them anew
 *   rate TOKEN R   another rate
 *   corrupt TOKEN  flip one bit of one page behind the table's back
 */
#include "churn.h"
#include "clocks.h"
#include "console.h"
#include "memory.h"
#include "vcpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGES_A_MIB 256
#define BATCH 16	/* pages rewritten between two looks at the clocks */
#define SLICE 64	/* pages swept between two looks */
#define RATE_MAX (-1)
#define NSEC 1000000000LL
#define NAP_LEAST (NSEC / 1000)
#define NAP_MOST (4 * NSEC / 1000)	/* each waking costs the emulated machine far more than a real one */

struct work {
	struct memory memory;
	struct clocks clocks;
	struct console console;
	struct vcpus vcpus;
	const struct churn *churn;	/* where nothing churns: all 0 */
	uint32_t dirty_pages, next;
	long rate;		/* MiB/s */
	int64_t due;		/* when the next batch may be written, MONOTONIC ns */
	char sweep_token[32];
	uint32_t sweep_at;
	uint64_t sweep_errors;
	uint64_t ticks;
	int64_t next_tick;
};

static long parse_rate(const char *text)
{
	return strcmp(text, "max") == 0 ? RATE_MAX : atol(text);
}

static const char *option(const char *name, const char *standard)
{
	const char *value = getenv(name);

	return value ? value : standard;
}

static void sweep_begin(struct work *w, const char *token)
{
	snprintf(w->sweep_token, sizeof(w->sweep_token), "%s", token);
	w->sweep_at = 0;
	w->sweep_errors = 0;
	if (!table_intact(&w->memory.table)) {
		w->memory.errors++;
		w->sweep_errors++;
		console_say(&w->console, "bad table");
	}
}

static void sweep_slice(struct work *w)
{
	struct memory *m = &w->memory;

	if (!w->sweep_token[0])
		return;
	for (int i = 0; i < SLICE && w->sweep_at < m->table.pages; i++, w->sweep_at++) {
		enum page_state state = memory_check(m, w->sweep_at);

		if (state != PAGE_GOOD && w->sweep_errors++ < 10)
			console_say(&w->console, "bad page=%u state=%s", w->sweep_at, page_state_name(state));
	}
	if (w->sweep_at < m->table.pages)
		return;
	/* errors: since the start, those found before a rewrite included */
	console_say(&w->console, "sweep %s pages=%u bad=%llu errors=%llu backwards=%llu churns=%llu churn_bad=%llu",
		    w->sweep_token, m->table.pages, (unsigned long long)w->sweep_errors,
		    (unsigned long long)m->errors, (unsigned long long)w->clocks.backwards,
		    (unsigned long long)w->churn->rounds, (unsigned long long)w->churn->bad);
	w->sweep_token[0] = '\0';
}

static void dirty_batch(struct work *w)
{
	if (w->rate == 0 || w->dirty_pages == 0)
		return;
	if (w->rate != RATE_MAX && w->clocks.mono < w->due)
		return;
	for (int i = 0; i < BATCH; i++) {
		memory_rewrite(&w->memory, w->next);
		w->next = (w->next + 1) % w->dirty_pages;
	}
	if (w->rate == RATE_MAX)
		return;
	w->due += BATCH * NSEC / (w->rate * PAGES_A_MIB);
	if (w->due < w->clocks.mono - NSEC / 10)
		w->due = w->clocks.mono;	/* too slow for the rate: don't run after it */
}

/*
 * Until a batch is due, or the console may take more. Not for long: how well a pause is seen depends on it, and who
 * asks waits. But for a moment even where it is behind: what can't keep its rate shall not take the whole CPU.
 */
static void rest(const struct work *w)
{
	int64_t left = NAP_MOST;

	if (w->rate == RATE_MAX || w->sweep_token[0])
		return;
	if (w->rate > 0 && w->dirty_pages > 0 && w->due - w->clocks.mono < left)
		left = w->due - w->clocks.mono;
	if (w->console.out_len > 0)
		left = 0;
	nanosleep(&(struct timespec){ 0, left > NAP_LEAST ? left : NAP_LEAST }, NULL);
}

static void obey(struct work *w, char *line)
{
	char *rest_of = NULL;
	const char *verb = strtok_r(line, " ", &rest_of), *token = strtok_r(NULL, " ", &rest_of);
	const char *value = strtok_r(NULL, " ", &rest_of);
	struct clocks *c = &w->clocks;

	if (!verb || !token)
		return;
	if (strcmp(verb, "sweep") == 0) {
		sweep_begin(w, token);
	} else if (strcmp(verb, "gap") == 0) {
		console_say(&w->console, "gap %s real_us=%lld boot_us=%lld mono_us=%lld backwards=%llu", token,
			    (long long)c->real_gap / 1000, (long long)c->boot_gap / 1000,
			    (long long)c->mono_gap / 1000, (unsigned long long)c->backwards);
		clocks_reset_gaps(c);
	} else if (strcmp(verb, "rate") == 0 && value) {
		w->rate = parse_rate(value);
		w->due = c->mono;
		console_say(&w->console, "rate %s now=%ld", token, w->rate);
	} else if (strcmp(verb, "corrupt") == 0) {
		/* The last page: outside what is rewritten if the guest rewrites a part only. */
		memory_corrupt(&w->memory, w->memory.table.pages - 1);
		console_say(&w->console, "corrupt %s page=%u", token, w->memory.table.pages - 1);
	} else {
		console_say(&w->console, "unknown %s verb=%s", token, verb);
	}
}

static void tick(struct work *w)
{
	if (w->clocks.mono < w->next_tick)
		return;
	w->next_tick = w->clocks.mono + NSEC / 2;
	w->ticks++;
	console_say(&w->console, "tick n=%llu checked=%llu written=%llu errors=%llu backwards=%llu vcpus=%d slowest=%llu "
		    "churns=%llu churn_error=%d",
		    (unsigned long long)w->ticks, (unsigned long long)w->memory.checked,
		    (unsigned long long)w->memory.written, (unsigned long long)w->memory.errors,
		    (unsigned long long)w->clocks.backwards, w->vcpus.count,
		    (unsigned long long)vcpus_slowest(&w->vcpus), (unsigned long long)w->churn->rounds, w->churn->error);
}

/* Before there is any memory to watch: the process must not share it. */
static void start_churn(struct work *w)
{
	static struct churn none;
	struct churn *churn = &none;
	int err = strcmp(option("xf_churn", "no"), "yes") == 0 ? churn_start("/init", &churn) : 0;

	if (err)
		console_say(&w->console, "failed what=churn error=%d", err);
	w->churn = churn;
}

static void start(struct work *w)
{
	uint32_t pages = (uint32_t)(atol(option("xf_mib", "32")) * PAGES_A_MIB);
	uint32_t dirty = (uint32_t)(atol(option("xf_dirty", "16")) * PAGES_A_MIB);
	int err;

	w->rate = parse_rate(option("xf_rate", "8"));
	w->dirty_pages = dirty < pages ? dirty : pages;
	start_churn(w);
	err = memory_init(&w->memory, pages, 0x5eed);
	if (err)
		console_say(&w->console, "failed what=memory error=%d", err);
	for (uint32_t i = 0; !err && strcmp(option("xf_fill", "random"), "random") == 0 && i < pages; i++)
		memory_rewrite(&w->memory, i);
	vcpus_start(&w->vcpus);
	clocks_start(&w->clocks);
	w->due = w->next_tick = w->clocks.mono;
	if (!err)
		console_say(&w->console, "ready pages=%u dirty=%u rate=%ld", pages, w->dirty_pages, w->rate);
}

int main(int argc, char **argv)
{
	static struct work w;
	char line[256];

	if (argc == 2 && strcmp(argv[1], CHURN_WORD) == 0)
		return churn_grown_up();
	mkdir("/dev", 0755);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	while (console_open(&w.console, "/dev/hvc0") != 0)
		sleep(1);
	start(&w);
	for (;;) {
		clocks_look(&w.clocks);
		console_flush(&w.console);
		if (console_hear(&w.console, line, sizeof(line)))
			obey(&w, line);
		sweep_slice(&w);
		dirty_batch(&w);
		tick(&w);
		rest(&w);
	}
}
