/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_migrate.h"
#include "cmd_options.h"

#include <getopt.h>
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

#define NUMBER_MAX 1000000000u

int migrate_parse(int argc, char **argv, struct migrate_options *o)
{
	static const char *const when_stuck[] = { "pause", "throttle", "abort", NULL };
	static const char *const trackers[] = { "auto", "log-dirty", "content", NULL };
	int verify_content = 0;
	const struct cmd_option options[] = {
		{ "config", 'C', .text = &o->config },
		{ "paused", 'p', .flag = &o->paused },
		{ "debug", 0, .flag = &o->debug },
		{ "ssh", 0, .text = &o->ssh },
		{ "stock-receiver", 0, .flag = &o->stock_receiver },
		{ "max-pause", 0, .text = &o->max_pause, .least = 1, .most = NUMBER_MAX },
		{ "max-rounds", 0, .text = &o->max_rounds, .most = NUMBER_MAX },
		{ "max-time", 0, .text = &o->max_time, .most = NUMBER_MAX },
		{ "max-bandwidth", 0, .text = &o->max_bandwidth, .most = NUMBER_MAX },
		{ "when-stuck", 0, .text = &o->when_stuck, .words = when_stuck },
		{ "tracker", 0, .text = &o->tracker, .words = trackers },
		{ "verify-content", 0, .flag = &verify_content },
		{ "json", 0, .text = &o->json },
		{ "quiet", 'q', .flag = &o->quiet },
		{ "verbose", 'v', .flag = &o->verbose },
		{ .name = NULL },
	};
	int ret;

	*o = (struct migrate_options){ .ssh = "ssh" };
	ret = cmd_options(&(const struct cmd_usage) { "migrate", help_text, options, false }, argc, argv);
	if (ret)
		return ret;
	o->verify_content = verify_content ? "yes" : NULL;
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
