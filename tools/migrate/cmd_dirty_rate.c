/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry dirty-rate: how a running guest dirties memory, and what moving it would be like. */
#include "cmd_dirty_rate.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <xcbatch.h>

#include "bench/bench.h"
#include "cmd.h"
#include "cmd_options.h"
#include "guest/guard.h"
#include "watch/xen.h"

#define SECONDS	     5u
#define SECONDS_MAX  600u
#define INTERVAL_S   0.1
#define MBIT_MAX     10000000u

enum { RATE_CANNOT = 3, RATE_NO_DOMAIN = 4, RATE_BUSY = 5, RATE_INTERRUPTED = 130 };

static const char help_text[] =
	"usage: xenferry dirty-rate [OPTIONS] DOMAIN\n"
	"\n"
	"Watches a running domain for some seconds and says how fast it dirties memory, how\n"
	"many different pages that are, and what a migration would take: rounds, total time\n"
	"and pause, by the rules and limits of xenferry's engine. The domain isn't moved.\n"
	"\n"
	"  -s, --seconds N       watch for so long (5; at most 600)\n"
	"  -b, --bandwidth MBIT  what the link to the other host carries, in Mbit/s (by default\n"
	"                        it is said for 100, 1000 and 10000)\n"
	"  -j, --json            print one JSON object instead\n"
	"  -h, --help            this text\n"
	"\n"
	"The domain runs a little slower while it is watched: its first write to each page is\n"
	"noticed by Xen. Don't begin a migration with the stock engine meanwhile.\n"
	"\n"
	"exit status: 0 watched; 1 it failed; 2 usage; 3 this host can't (rights,\n"
	"/dev/xen/privcmd, a kind of guest that Xen can't watch); 4 no such domain, or it doesn't\n"
	"run; 5 it is being migrated or watched already; 130 interrupted\n";

static int parse(struct dirty_rate_options *o, int argc, char **argv)
{
	const struct cmd_option options[] = {
		{ "seconds", 's', .number = &o->seconds, .least = 1, .most = SECONDS_MAX },
		{ "bandwidth", 'b', .number = &o->bandwidth, .least = 1, .most = MBIT_MAX },
		{ "json", 'j', .flag = &o->json },
		{ .name = NULL },
	};
	int ret;

	*o = (struct dirty_rate_options) { .seconds = SECONDS };
	ret = cmd_options(&(const struct cmd_usage) { DIRTY_RATE, help_text, options, false }, argc, argv);
	if (ret)
		return ret;
	if (argc - optind != 1)
		return cmd_misuse(DIRTY_RATE, "found %d domains, expected one", argc - optind) + 1;
	o->domain = argv[optind];
	return 0;
}

/* ---- errors in a sentence ------------------------------------------------- */

static int no_domain(const char *domain)
{
	return cmd_fail(DIRTY_RATE, RATE_NO_DOMAIN, "Found no domain \"%s\", expected the name or number of a running"
			" one; \"xl list\" shows them.", domain);
}

static int explained(int status, const char *what, const char *domain, int rc)
{
	char why[400];

	xcbatch_explain(rc, why, sizeof(why));
	return cmd_fail(DIRTY_RATE, status, "%s \"%s\" failed. %s", what, domain, why);
}

static int not_watched(const struct dirty_rate_options *o, const struct watched *w, int rc)
{
	switch (rc) {
	case -ESRCH:
		return no_domain(o->domain);
	case -EHOSTDOWN:
		return cmd_fail(DIRTY_RATE, RATE_NO_DOMAIN, "Found \"%s\" shut down (reason %u), expected a domain"
				" that runs.", o->domain, w->info.reason);
	case -EOPNOTSUPP:
		return cmd_fail(DIRTY_RATE, RATE_CANNOT, "Found \"%s\" to be a %s guest, whose writes this Xen can't"
				" log; expected a PVH or HVM guest.", o->domain, w->info.hvm ? "PVH or HVM" : "PV");
	case -EALREADY:
		return cmd_fail(DIRTY_RATE, RATE_BUSY, "Found a migration by xenferry, or another dirty-rate, of \"%s\""
				" under way, expected none; wait until it has ended.", o->domain);
	case -EBUSY:
		return cmd_fail(DIRTY_RATE, RATE_BUSY, "Found log-dirty of \"%s\" switched on by somebody else (it is"
				" being migrated, or its screen is watched), or refused by Xen (a passed-through"
				" device), expected it off; it was left as it is, so wait, and try again.", o->domain);
	case -ESTALE:
		return cmd_fail(DIRTY_RATE, RATE_BUSY, "Somebody else took log-dirty of \"%s\" over while it was watched"
				" (a migration began), expected to have it alone; it was left to him, so try again"
				" afterwards.", o->domain);
	default:
		return explained(XF_EXIT_FAILED, "Watching", o->domain, rc);
	}
}

/* ---- waiting, and being stopped -------------------------------------------- */

struct waiting {
	struct cmd_bar bar;
	unsigned seconds;
	int signals;
};

static int wait_for_it(void *ctx, double interval, double seconds, uint64_t pages)
{
	struct waiting *w = ctx;
	struct pollfd p = { .fd = w->signals, .events = POLLIN };
	struct timespec t = { (time_t)interval, (long)((interval - (double)(time_t)interval) * 1e9) };
	char text[80], size[32];

	snprintf(text, sizeof(text), "watching: %" PRIu64 " pages dirtied, %s", pages,
		 cmd_size(size, pages * GUEST_PAGE_SIZE));
	cmd_bar_show(&w->bar, (uint64_t)(seconds * 1000), w->seconds * 1000ull, text);
	return ppoll(&p, 1, &t, NULL) > 0 ? -ECANCELED : 0;
}

/* What ends us from outside comes as a descriptor, so that log-dirty is switched off first. */
static int open_signals(sigset_t *before)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		if (!sigaction(stops[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&mask, stops[i]);
	sigprocmask(SIG_BLOCK, &mask, before);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int watch(const struct dirty_rate_options *o, struct guest *g, struct watched *w)
{
	struct waiting waiting = { .seconds = o->seconds };
	const struct watch_plan plan = { o->seconds, INTERVAL_S, wait_for_it, &waiting };
	struct signalfd_siginfo info;
	sigset_t before;
	int rc;

	waiting.signals = open_signals(&before);
	if (waiting.signals < 0)
		return -errno;
	cmd_bar_init(&waiting.bar, !o->json);
	rc = watch_guest(g, &plan, w);
	cmd_bar_hide(&waiting.bar);
	/* Those that were waited for have done their work. */
	while (read(waiting.signals, &info, sizeof(info)) == sizeof(info))
		;
	close(waiting.signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* ---- the run ---------------------------------------------------------------- */

static int report(const struct dirty_rate_options *o, uint32_t domid, const struct watched *w)
{
	static struct config config;	/* with its path, too large for a stack */
	const struct dirty_rate_report r = { o, domid, w, &config };
	int rc;

	config_load(CONFIG_FILE, &config);
	if (config.problem[0])
		fprintf(stderr, "xenferry dirty-rate: %s\n", config.problem);
	if (o->json) {
		rc = dirty_rate_json(stdout, &r);
		if (rc)
			return cmd_fail(DIRTY_RATE, XF_EXIT_FAILED, "Writing the result failed (%s): expected standard"
					" output to take it.", strerror(-rc));
	} else {
		dirty_rate_print(stdout, &r);
	}
	return XF_EXIT_OK;
}

static int run(const struct dirty_rate_options *o, uint32_t domid)
{
	const char *lock = getenv("XENFERRY_LOCK");
	struct watched w;
	struct guest *g;
	int rc = watch_xen_open(bench_quiet(), domid, lock && *lock ? lock : GUARD_FILE, &g), ret;

	if (rc)
		return explained(RATE_CANNOT, "Opening the way to", o->domain, rc);
	rc = watch(o, g, &w);
	if (rc == -ECANCELED)
		ret = cmd_fail(DIRTY_RATE, RATE_INTERRUPTED, "Watching \"%s\" was stopped as asked; log-dirty is off"
			       " again.", o->domain);
	else
		ret = rc ? not_watched(o, &w, rc) : report(o, domid, &w);
	watched_free(&w);
	g->ops->close(g);
	return ret;
}

int cmd_dirty_rate(int argc, char **argv)
{
	struct dirty_rate_options o;
	struct bench_target target;
	int ret = parse(&o, argc, argv), rc;

	if (ret)
		return ret - 1;
	rc = bench_find_domain(o.domain, &target);
	if (rc == -ENXIO)
		return no_domain(o.domain);
	if (rc)
		return explained(RATE_CANNOT, "Looking up", o.domain, rc);
	if (!target.domid)
		return cmd_fail(DIRTY_RATE, RATE_NO_DOMAIN, "Found Dom0 under \"%s\", expected a guest; Dom0 itself can't"
				" be watched or moved.", o.domain);
	return run(&o, target.domid);
}
