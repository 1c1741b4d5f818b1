/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_migrate.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
	"usage: xenferry migrate [OPTIONS] DOMAIN HOST\n"
	"\n"
	"Moves a running domain to another host while it runs on: starts \"xl migrate\" with\n"
	"xenferry's engine, shows how far it is and sums up at the end. Where xenferry is\n"
	"installed on HOST its engine receives there, else the stock one.\n"
	"\n"
	"  -C, --config FILE     the configuration the domain shall have on HOST\n"
	"  -p, --paused          leave the domain paused on HOST\n"
	"      --debug           compare all memory at the end (the guest is paused for longer)\n"
	"      --ssh CMD         how HOST is reached, instead of \"ssh\"; options may follow\n"
	"      --stock-receiver  let the stock engine receive, even if xenferry is on HOST\n"
	"      --json FILE       write the result as one JSON object\n"
	"      --max-pause MS    copy while the guest runs until the pause is shorter (300)\n"
	"      --when-stuck HOW  the guest dirties memory faster than it can be sent: pause it\n"
	"                        (default), throttle its CPU time, or abort\n"
	"      --max-rounds N    the most rounds over its memory (30; 0: no limit)\n"
	"      --max-time S      the longest time, in seconds (no limit)\n"
	"      --max-bandwidth N Mbit/s while the guest runs (no limit)\n"
	"      --tracker HOW     how written pages are found: log-dirty, content (memory is\n"
	"                        compared), or auto (default: log-dirty where Xen has it)\n"
	"      --verify-content  send all memory again in the pause and put right what differs\n"
	"  -q, --quiet           print nothing unless it fails\n"
	"  -v, --verbose         print what xl says as it comes\n"
	"  -h, --help            this text\n"
	"\n"
	"Ctrl-C stops the migration; the domain runs on here. Once it has been handed over\n"
	"it can't be stopped any more.\n"
	"\n"
	"exit status: 0 the domain runs on HOST; 1 it failed, and the domain runs on here;\n"
	"2 usage; 3 this host can't (rights, /dev/xen/privcmd, xl, helper); 4 no such domain;\n"
	"5 HOST can't be reached, or no xl answers there; 6 look at both hosts for the\n"
	"domain; 130 interrupted, and the domain runs on here\n";

enum { OPT_DEBUG = 256, OPT_SSH, OPT_STOCK, OPT_JSON, OPT_PAUSE, OPT_STUCK, OPT_ROUNDS, OPT_TIME, OPT_BANDWIDTH,
       OPT_TRACKER, OPT_VERIFY };

static const struct option longs[] = {
	{ "config", 1, NULL, 'C' }, { "paused", 0, NULL, 'p' }, { "debug", 0, NULL, OPT_DEBUG },
	{ "ssh", 1, NULL, OPT_SSH }, { "stock-receiver", 0, NULL, OPT_STOCK },
	{ "max-pause", 1, NULL, OPT_PAUSE }, { "when-stuck", 1, NULL, OPT_STUCK },
	{ "max-rounds", 1, NULL, OPT_ROUNDS }, { "max-time", 1, NULL, OPT_TIME },
	{ "max-bandwidth", 1, NULL, OPT_BANDWIDTH }, { "tracker", 1, NULL, OPT_TRACKER },
	{ "verify-content", 0, NULL, OPT_VERIFY },
	{ "json", 1, NULL, OPT_JSON }, { "quiet", 0, NULL, 'q' }, { "verbose", 0, NULL, 'v' },
	{ "help", 0, NULL, 'h' }, { NULL, 0, NULL, 0 },
};

/* 0, or an exit status + 1. */
static int take_number(const char *option, unsigned least, const char **to)
{
	char *end;
	unsigned long n = strtoul(optarg, &end, 10);

	if (*optarg < '0' || *optarg > '9' || *end || n < least || n > 1000000000)
		return cmd_misuse("migrate", "found \"%s\" for --%s, expected a whole number from %u on", optarg,
				  option, least) + 1;
	*to = optarg;
	return 0;
}

static int take_when_stuck(struct migrate_options *o)
{
	if (strcmp(optarg, "pause") && strcmp(optarg, "throttle") && strcmp(optarg, "abort"))
		return cmd_misuse("migrate", "found \"%s\" for --when-stuck, expected pause, throttle or abort",
				  optarg) + 1;
	o->when_stuck = optarg;
	return 0;
}

static int take_tracker(struct migrate_options *o)
{
	if (strcmp(optarg, "auto") && strcmp(optarg, "log-dirty") && strcmp(optarg, "content"))
		return cmd_misuse("migrate", "found \"%s\" for --tracker, expected auto, log-dirty or content",
				  optarg) + 1;
	o->tracker = optarg;
	return 0;
}

/* What is for the helper: 0, an exit status + 1, or -1 where it isn't. */
static int take_setting(struct migrate_options *o, int opt)
{
	switch (opt) {
	case OPT_PAUSE:
		return take_number("max-pause", 1, &o->max_pause);
	case OPT_ROUNDS:
		return take_number("max-rounds", 0, &o->max_rounds);
	case OPT_TIME:
		return take_number("max-time", 0, &o->max_time);
	case OPT_BANDWIDTH:
		return take_number("max-bandwidth", 0, &o->max_bandwidth);
	case OPT_STUCK:
		return take_when_stuck(o);
	case OPT_TRACKER:
		return take_tracker(o);
	case OPT_VERIFY:
		o->verify_content = "yes";
		return 0;
	default:
		return -1;
	}
}

/* 0, or an exit status + 1. */
static int take(struct migrate_options *o, int opt, char **argv)
{
	switch (opt) {
	case 'C':
		o->config = optarg;
		return 0;
	case 'p':
		o->paused = 1;
		return 0;
	case OPT_DEBUG:
		o->debug = 1;
		return 0;
	case OPT_SSH:
		o->ssh = optarg;
		return 0;
	case OPT_STOCK:
		o->stock_receiver = 1;
		return 0;
	case OPT_JSON:
		o->json = optarg;
		return 0;
	case 'q':
		o->quiet = 1;
		return 0;
	case 'v':
		o->verbose = 1;
		return 0;
	case 'h':
		fputs(help_text, stdout);
		return XF_EXIT_OK + 1;
	default:
		return cmd_bad_option("migrate", opt, argv) + 1;
	}
}

int migrate_parse(int argc, char **argv, struct migrate_options *o)
{
	int opt, ret;

	*o = (struct migrate_options){ .ssh = "ssh" };
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":C:pqvh", longs, NULL)) != -1) {
		ret = take_setting(o, opt);
		if (ret < 0)
			ret = take(o, opt, argv);
		if (ret)
			return ret;
	}
	if (argc - optind != 2)
		return cmd_misuse("migrate", "found %d arguments, expected a domain and a host",
				  argc - optind) + 1;
	o->domain = argv[optind];
	o->host = argv[optind + 1];
	/* ssh would take it for an option of its own. */
	if (!o->host[0] || o->host[0] == '-')
		return cmd_misuse("migrate", "found \"%s\" as the host, expected a name or address",
				  o->host) + 1;
	if (!o->domain[0] || o->domain[0] == '-')
		return cmd_misuse("migrate", "found \"%s\" as the domain, expected a name or number",
				  o->domain) + 1;
	if (!o->ssh[strspn(o->ssh, " ")])
		return cmd_misuse("migrate", "found an empty --ssh, expected a command") + 1;
	if (o->quiet && o->verbose)
		return cmd_misuse("migrate", "found --quiet with --verbose, expected one of them") + 1;
	return 0;
}
