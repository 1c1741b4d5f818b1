/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry bench map: what a cycle of mapping and unmapping guest memory costs. */
#include "cmd.h"
#include "cmd_bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bench"

static const char help_text[] =
	"usage: xenferry bench map [OPTIONS] DOMAIN\n"
	"\n"
	"Maps scattered frames of a domain read-only and unmaps them, as any program does\n"
	"it, and with xenferry's driver also replaces mapped frames by others in place.\n"
	"Prints what each costs. DOMAIN is a name or a number; it is not changed.\n"
	"\n"
	"  -n, --frames N,N..  frames an operation (default 1,16,64,256,1024,4096,16384, as\n"
	"                      far as the domain has twice as many)\n"
	"  -r, --repeat R      operations measured for each figure (default 50)\n"
	"  -t, --time S        after S seconds a figure gets no more operations, if it has 3\n"
	"                      (default 10; 0: no limit)\n"
	"  -l, --loop ROUNDS   measure only ROUNDS times map and unmap, timed as a whole\n"
	"  -j, --json FILE     write the figures as JSON, too\n"
	"  -m, --mode MODE     what the JSON rows are labelled with: \"wall\" (default), or\n"
	"                      \"deterministic\" for an emulator that counts instructions\n"
	"      --marks FILE    write each operation's first and last tick, for tracing\n"
	"  -h, --help          this text\n"
	"\n"
	"Hypercalls and flushes are those the driver counted; the stock one counts none.\n"
	"The domain needs twice as many frames as the largest N.\n"
	"\n"
	"exit status: 0 measured, 1 it failed, 2 usage\n";

/* "1,16,64" */
static int parse_sizes(const char *text, struct cmd_bench_options *o)
{
	o->sizes_count = 0;
	for (;;) {
		char *end;
		unsigned long n;

		errno = 0;
		n = strtoul(text, &end, 10);
		if (errno || end == text || *text < '0' || *text > '9' || n < 1 ||
		    n > XCBATCH_WINDOW_MAX || (*end && *end != ',') ||
		    o->sizes_count == CMD_BENCH_MAX_SIZES)
			return -EINVAL;
		o->sizes[o->sizes_count++] = n;
		if (!*end)
			return 0;
		text = end + 1;
	}
}

static int parse_number(const char *text, unsigned long least, unsigned long most, size_t *out)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' || n < least || n > most)
		return -EINVAL;
	*out = n;
	return 0;
}

static int take_number(const char *option, unsigned long least, unsigned long most, size_t *out)
{
	if (parse_number(optarg, least, most, out) < 0)
		return cmd_misuse(NAME, "found --%s \"%s\", expected a number from %lu to %lu", option, optarg, least,
				  most);
	return 0;
}

static int take_option(int opt, char **argv, struct cmd_bench_options *o)
{
	switch (opt) {
	case 'n':
		if (parse_sizes(optarg, o) < 0)
			return cmd_misuse(NAME, "found --frames \"%s\", expected 1 to %d numbers from 1 to %u with "
					  "commas between", optarg, CMD_BENCH_MAX_SIZES, XCBATCH_WINDOW_MAX);
		o->sizes_given = true;
		return 0;
	case 'r':
		return take_number("repeat", 1, 100000, &o->repeat);
	case 't':
		return take_number("time", 0, 86400, &o->limit_s);
	case 'l':
		return take_number("loop", 1, 1000000, &o->rounds);
	case 'm':
		if (strcmp(optarg, "wall") && strcmp(optarg, "deterministic"))
			return cmd_misuse(NAME, "found --mode \"%s\", expected \"wall\" or \"deterministic\"", optarg);
		o->mode = optarg;
		return 0;
	case 'j':
		o->json = optarg;
		return 0;
	case 'M':
		o->marks = optarg;
		return 0;
	default:
		return cmd_bad_option(NAME, opt, argv);
	}
}

int cmd_bench_options(int argc, char **argv, struct cmd_bench_options *out)
{
	static const struct option options[] = {
		{ "frames", required_argument, NULL, 'n' }, { "repeat", required_argument, NULL, 'r' },
		{ "json", required_argument, NULL, 'j' },   { "mode", required_argument, NULL, 'm' },
		{ "marks", required_argument, NULL, 'M' },  { "time", required_argument, NULL, 't' },
		{ "loop", required_argument, NULL, 'l' },   { NULL, 0, NULL, 0 },
	};
	int opt, status;

	*out = (struct cmd_bench_options){ .sizes = { 1, 16, 64, 256, 1024, 4096, 16384 }, .sizes_count = 7,
					   .repeat = 50, .limit_s = 10, .mode = "wall" };
	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":n:r:t:l:j:m:", options, NULL)) != -1) {
		status = take_option(opt, argv, out);
		if (status)
			return status;
	}
	if (argc - optind != 1)
		return cmd_misuse(NAME, "found %d domains, expected one", argc - optind);
	out->domain = argv[optind];
	return 0;
}

/* ---- errors in a sentence -------------------------------------------------- */

static int no_domain(const struct cmd_bench_options *o, int rc)
{
	char text[400];

	if (rc == -ENXIO)
		return cmd_fail(NAME, XF_EXIT_FAILED, "found no domain \"%s\", expected the name or number of a "
				"running one; \"xl list\" shows them.", o->domain);
	xcbatch_explain(rc, text, sizeof(text));
	return cmd_fail(NAME, XF_EXIT_FAILED, "domain \"%s\" could not be looked up. %s", o->domain, text);
}

static int no_measure(const struct bench_target *target, int rc)
{
	char text[400];

	xcbatch_explain(rc, text, sizeof(text));
	return cmd_fail(NAME, XF_EXIT_FAILED, "mapping frames of domain %u failed. %s", target->domid, text);
}

static int not_written(const char *file, int rc)
{
	return cmd_fail(NAME, XF_EXIT_FAILED, "%s could not be written (%s); expected a file in an existing "
			"directory with room.", file, strerror(-rc));
}

/* ---- the run --------------------------------------------------------------- */

static void show_progress(void *ctx, size_t done, size_t all)
{
	cmd_bar_show(ctx, done, all, "measuring");
}

static size_t largest(const struct cmd_bench_options *o)
{
	size_t most = 0;

	for (size_t i = 0; i < o->sizes_count; i++)
		most = o->sizes[i] > most ? o->sizes[i] : most;
	return most;
}

/* Nobody asked for these sizes: those the domain is too small for are left out. */
static void fit_sizes(struct cmd_bench_options *o, const struct bench_target *target)
{
	if (o->sizes_given)
		return;
	while (o->sizes_count > 1 && o->sizes[o->sizes_count - 1] * 2 > target->count)
		o->sizes_count--;
}

static int find_target(struct cmd_bench_options *o, struct bench_target *target)
{
	size_t most = largest(o);
	int rc = bench_find_domain(o->domain, target);

	if (rc < 0)
		return no_domain(o, rc);
	rc = bench_find_frames(target, most * 2 > 65536 ? most * 2 : 65536);
	if (rc == -ENODATA)
		return cmd_fail(NAME, XF_EXIT_FAILED, "found no list of frames of PV guest %u, expected the linear P2M "
				"list that a 64-bit Linux has once it is up; wait until it has booted, or take another "
				"domain.", target->domid);
	if (rc < 0)
		return no_measure(target, rc);
	fit_sizes(o, target);
	most = largest(o);
	if (target->count < most * 2)
		return cmd_fail(NAME, XF_EXIT_FAILED, "found %zu frames of domain %u that can be mapped, expected at "
				"least %zu, twice the largest of --frames; take a larger domain or fewer frames.",
				target->count, target->domid, most * 2);
	return 0;
}

static int report(const struct cmd_bench_options *o, const struct bench_target *target,
		  const struct bench_result *result)
{
	int rc;

	cmd_bench_table(stdout, o, target, result);
	rc = o->json ? cmd_bench_write_json(o, target, result) : 0;
	if (rc < 0)
		return not_written(o->json, rc);
	rc = o->marks ? cmd_bench_write_marks(o, result) : 0;
	return rc < 0 ? not_written(o->marks, rc) : 0;
}

static int bench_map(int argc, char **argv)
{
	struct cmd_bench_options o;
	struct bench_target target;
	struct bench_result result;
	struct cmd_bar bar;
	int status = cmd_bench_options(argc, argv, &o), rc;

	if (status)
		return status;
	status = find_target(&o, &target);
	if (!status) {
		struct bench_plan plan = {
			.sizes = o.sizes, .sizes_count = o.sizes_count, .repeat = o.repeat,
			.limit_ns = o.limit_s * 1000000000ull, .rounds = o.rounds,
			.progress = show_progress, .ctx = &bar,
		};

		cmd_bar_init(&bar, 1);
		rc = bench_run(&target, &plan, &result);
		cmd_bar_hide(&bar);
		status = rc < 0 ? no_measure(&target, rc) : report(&o, &target, &result);
		bench_result_free(&result);
	}
	bench_forget(&target);
	return status;
}

int cmd_bench(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
			continue;
		fputs(help_text, stdout);
		return XF_EXIT_OK;
	}
	if (argc < 2)
		return cmd_misuse(NAME, "found nothing to measure, expected \"map\"");
	if (strcmp(argv[1], "map"))
		return cmd_misuse(NAME, "found \"%s\", expected \"map\"", argv[1]);
	return bench_map(argc - 1, argv + 1);
}
