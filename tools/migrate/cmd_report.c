/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry report: a migration's statistics as a picture. */
#include "cmd_options.h"
#include "cmd_report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help_text[] =
	"usage: xenferry report [OPTIONS] FILE\n"
	"\n"
	"Draws a migration as one SVG picture: the rates over time, the pages of each round, and\n"
	"the pause in its parts. FILE is what XENFERRY_STATS names (JSON lines; of several\n"
	"migrations in it the last one is drawn) or what \"xenferry migrate --json\" wrote; \"-\" is\n"
	"standard input.\n"
	"\n"
	"  -o, --output OUT  write the picture to OUT instead of standard output\n"
	"  -h, --help        this text\n"
	"\n"
	"exit status: 0 drawn; 1 it failed, and nothing was written; 2 usage\n";

struct wanted {
	const char *in, *out;	/* out NULL: standard output */
};

static int parse(struct wanted *w, int argc, char **argv)
{
	const struct cmd_option options[] = {
		{ "output", 'o', .text = &w->out }, { .name = NULL },
	};
	int ret;

	*w = (struct wanted) { .out = NULL };
	ret = cmd_options(&(const struct cmd_usage) { REPORT, help_text, options, false }, argc, argv);
	if (ret)
		return ret;
	if (argc - optind != 1)
		return cmd_misuse(REPORT, "found %d files, expected one", argc - optind) + 1;
	w->in = argv[optind];
	return 0;
}

static int load(const char *name, struct report *r)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
	struct stat st;
	int ret;

	if (!f)
		return cmd_fail(REPORT, XF_EXIT_FAILED, "Opening \"%s\" failed (%s): expected a file of statistics.", name,
				strerror(errno));
	if (!fstat(fileno(f), &st) && S_ISDIR(st.st_mode)) {
		fclose(f);
		return cmd_fail(REPORT, XF_EXIT_FAILED, "Found a directory in \"%s\", expected a file of statistics.", name);
	}
	ret = report_load(f, name, r);
	if (f != stdin)
		fclose(f);
	return ret;
}

/* Drawn already, so that an error there leaves no half a file. */
static int write_out(const char *name, const char *text, size_t n)
{
	FILE *f = name ? fopen(name, "we") : stdout;
	struct stat st;
	int bad;

	if (!f)
		return cmd_fail(REPORT, XF_EXIT_FAILED, "Opening \"%s\" failed (%s): expected a file that may be written.",
				name, strerror(errno));
	errno = 0;
	bad = fwrite(text, 1, n, f) != n || fflush(f);
	if (!bad) {
		if (name)
			fclose(f);
		return XF_EXIT_OK;
	}
	cmd_fail(REPORT, XF_EXIT_FAILED, "Writing %s failed (%s): expected room for %zu bytes.",
		 name ? name : "standard output", strerror(errno ? errno : EIO), n);
	if (name) {
		if (!fstat(fileno(f), &st) && S_ISREG(st.st_mode))
			unlink(name);
		fclose(f);
	}
	return XF_EXIT_FAILED;
}

int cmd_report(int argc, char **argv)
{
	static struct report r;		/* with its rounds, too large for a stack */
	char *text = NULL;
	struct wanted w;
	size_t n = 0;
	FILE *to;
	int ret = parse(&w, argc, argv);

	if (ret)
		return ret - 1;
	ret = load(w.in, &r);
	if (ret)
		return ret;
	to = open_memstream(&text, &n);
	if (!to)
		return cmd_fail(REPORT, XF_EXIT_FAILED, "Found no memory for the picture, expected some KiB.");
	chart_draw(to, &r.chart);
	if (fclose(to))
		ret = cmd_fail(REPORT, XF_EXIT_FAILED, "Found no memory for the picture, expected some KiB.");
	else
		ret = write_out(w.out, text, n);
	free(text);
	return ret;
}
