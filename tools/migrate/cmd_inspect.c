/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xenferry inspect: options, and the printing of what the inspection finds. */
#include "cmd.h"
#include "cmd_options.h"
#include "inspect/inspect.h"
#include "stream/names.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_REFUSED = 1, EXIT_NOT_READ = 3 };

#define BAR_FROM (64u << 20)	/* a file of less is read before a bar is seen */

static const char help_text[] =
	"usage: xenferry inspect [OPTIONS] FILE\n"
	"\n"
	"Prints and checks a saved stream, record by record: what \"xl save\" wrote, or a\n"
	"bare libxl or libxc stream. FILE \"-\" is the standard input.\n"
	"\n"
	"  -a, --all    print each PAGE_DATA record; by default those in a row are one line\n"
	"  -j, --json   print one JSON object\n"
	"  -q, --quiet  print nothing but why a stream is refused\n"
	"  -h, --help   this text\n"
	"\n"
	"exit status: 0 the stream is fine, 1 it is refused, 2 usage, 3 it can't be read\n";

struct options {
	int all, json, quiet;
	const char *file;
};

struct printer {
	const struct options *o;
	struct cmd_bar bar;
	uint64_t size;		/* of the file, 0: unknown */
	uint64_t items;
	/* PAGE_DATA records in a row that are one line yet to be printed */
	struct xf_inspect_item first;
	uint64_t run, run_bytes, run_pages, run_data, run_zero;
};

/* ---- for people --------------------------------------------------------- */

static void line(struct printer *p, uint64_t offset, const char *layer, const char *number,
		 const char *name, uint64_t bytes, const char *detail)
{
	if (!p->items++)
		printf("%12s  %-5s  %-11s %-24s %12s  %s\n", "byte", "layer", "record", "name",
		       "bytes", "contents");
	printf("%12" PRIu64 "  %-5s  %-11s %-24s %12" PRIu64 "  %s\n", offset, layer, number, name,
	       bytes, detail);
}

static void flush_run(struct printer *p)
{
	char number[48], detail[200];

	if (!p->run)
		return;
	if (p->run == 1)
		snprintf(number, sizeof(number), "%" PRIu64, p->first.number);
	else
		snprintf(number, sizeof(number), "%" PRIu64 "-%" PRIu64, p->first.number,
			 p->first.number + p->run - 1);
	snprintf(detail, sizeof(detail), "%" PRIu64 " pages, %" PRIu64 " with contents, %" PRIu64
		 " of them zero", p->run_pages, p->run_data, p->run_zero);
	line(p, p->first.offset, p->first.layer, number, p->first.name, p->run_bytes, detail);
	p->run = p->run_bytes = p->run_pages = p->run_data = p->run_zero = 0;
}

static void print_item(void *ctx, const struct xf_inspect_item *item)
{
	struct printer *p = ctx;
	char number[32] = "", detail[200];

	if (p->o->quiet)
		return;
	cmd_bar_hide(&p->bar);
	if (item->pages && !p->o->all) {
		if (!p->run)
			p->first = *item;
		p->run++;
		p->run_bytes += item->length;
		p->run_pages += item->pages;
		p->run_data += item->with_data;
		p->run_zero += item->zero;
		return;
	}
	flush_run(p);
	if (item->number)
		snprintf(number, sizeof(number), "%" PRIu64, item->number);
	if (item->skipped)
		snprintf(detail, sizeof(detail), "type 0x%08x, ignored by readers", item->type);
	else
		snprintf(detail, sizeof(detail), "%s", item->detail);
	line(p, item->offset, item->layer, number, item->name, item->length, detail);
}

static void print_progress(void *ctx, uint64_t bytes)
{
	struct printer *p = ctx;
	char text[80], done[32], all[32];

	if (p->size)
		snprintf(text, sizeof(text), "%s of %s", cmd_size(done, bytes), cmd_size(all, p->size));
	else
		snprintf(text, sizeof(text), "%s read", cmd_size(done, bytes));
	if (!p->size || p->size >= BAR_FROM)
		cmd_bar_show(&p->bar, bytes, p->size, text);
}

static void print_summary(const struct xf_inspect_summary *s)
{
	char size[32];

	printf("\nStream of version %u: %s guest, saved under Xen %u.%u; %" PRIu64 " records, %s.\n",
	       s->version, xf_guest_name(s->guest), s->xen_major, s->xen_minor, s->records,
	       cmd_size(size, s->bytes));
	printf("Pages: %" PRIu64 " in %" PRIu64 " records, %" PRIu64 " with contents, %" PRIu64
	       " of them zero; highest pfn 0x%" PRIx64 ".\n", s->pages, s->page_records, s->with_data,
	       s->zero, s->max_pfn);
	printf("Types:");
	for (unsigned i = 0; i < XF_PAGE_TYPES; i++)
		if (s->types[i])
			printf(" %s %" PRIu64, xf_page_type_name(i), s->types[i]);
	putchar('\n');
	if (s->verify_pages)
		printf("Verify pass: %" PRIu64 " pages.\n", s->verify_pages);
	if (s->skipped)
		printf("Unknown optional records: %" PRIu64 ".\n", s->skipped);
	puts("Nothing wrong was found.");
}

/* ---- for machines -------------------------------------------------------- */

static void add_int(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void json_item(void *ctx, const struct xf_inspect_item *item)
{
	struct printer *p = ctx;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "layer", json_object_new_string(item->layer));
	json_object_object_add(o, "name", json_object_new_string(item->name));
	if (item->number) {
		add_int(o, "record", item->number);
		add_int(o, "type", item->type);
	}
	add_int(o, "offset", item->offset);
	add_int(o, "length", item->length);
	if (item->skipped)
		json_object_object_add(o, "ignored", json_object_new_boolean(1));
	if (item->pages) {
		add_int(o, "pages", item->pages);
		add_int(o, "with_contents", item->with_data);
		add_int(o, "zero", item->zero);
	} else if (item->detail[0]) {
		json_object_object_add(o, "detail", json_object_new_string(item->detail));
	}
	printf("%s\n    %s", p->items++ ? "," : "", json_object_to_json_string_ext(o, 0));
	json_object_put(o);
}

static void json_begin(const char *file)
{
	struct json_object *name = json_object_new_string(file);

	printf("{\n  \"file\": %s,\n  \"records\": [", json_object_to_json_string_ext(name, 0));
	json_object_put(name);
}

static void json_end(const struct xf_inspect_summary *s, int ret, const struct xf_error *e)
{
	struct json_object *sum = json_object_new_object(), *types = json_object_new_object(), *text;

	add_int(sum, "version", s->version);
	json_object_object_add(sum, "guest", json_object_new_string(xf_guest_name(s->guest)));
	add_int(sum, "xen_major", s->xen_major);
	add_int(sum, "xen_minor", s->xen_minor);
	add_int(sum, "bytes", s->bytes);
	add_int(sum, "records", s->records);
	add_int(sum, "page_records", s->page_records);
	add_int(sum, "pages", s->pages);
	add_int(sum, "with_contents", s->with_data);
	add_int(sum, "zero", s->zero);
	add_int(sum, "verify_pages", s->verify_pages);
	add_int(sum, "max_pfn", s->max_pfn);
	add_int(sum, "ignored", s->skipped);
	for (unsigned i = 0; i < XF_PAGE_TYPES; i++)
		if (s->types[i])
			add_int(types, xf_page_type_name(i), s->types[i]);
	json_object_object_add(sum, "types", types);
	text = ret ? json_object_new_string(e->text) : NULL;
	printf("\n  ],\n  \"summary\": %s,\n  \"result\": \"%s\",\n  \"error\": %s\n}\n",
	       json_object_to_json_string_ext(sum, 0), ret ? "refused" : "ok",
	       ret ? json_object_to_json_string_ext(text, 0) : "null");
	json_object_put(sum);
	json_object_put(text);
}

/* ---- the command ---------------------------------------------------------- */

/* 0, or an exit status + 1 when there is no more to do. */
static int parse(int argc, char **argv, struct options *o)
{
	const struct cmd_option options[] = {
		{ "all", 'a', .flag = &o->all }, { "json", 'j', .flag = &o->json },
		{ "quiet", 'q', .flag = &o->quiet }, { .name = NULL },
	};
	int ret;

	*o = (struct options){ 0 };
	ret = cmd_options(&(const struct cmd_usage) { "inspect", help_text, options, false }, argc, argv);
	if (ret)
		return ret;
	if (argc - optind != 1)
		return cmd_misuse("inspect", "found %d file names, expected one", argc - optind) + 1;
	if (o->json && o->quiet)
		return cmd_misuse("inspect", "found --json with --quiet, expected one of them") + 1;
	o->file = argv[optind];
	return 0;
}

static int open_input(const struct options *o, struct printer *p)
{
	struct stat st;
	int fd = STDIN_FILENO;

	if (strcmp(o->file, "-")) {
		fd = open(o->file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return cmd_fail("inspect", -EXIT_NOT_READ, "Opening \"%s\" failed (%s): expected a"
					" saved stream that may be read; check name and permission.",
					o->file, strerror(errno));
	}
	if (!fstat(fd, &st)) {
		if (S_ISDIR(st.st_mode))
			return cmd_fail("inspect", -EXIT_NOT_READ, "Found a directory under \"%s\","
					" expected a saved stream; give the name of a file.", o->file);
		if (S_ISREG(st.st_mode))
			p->size = (uint64_t)st.st_size;
	}
	return fd;
}

static int status_of(int ret)
{
	if (!ret)
		return XF_EXIT_OK;
	return ret == -EPROTO || ret == -ENODATA ? EXIT_REFUSED : EXIT_NOT_READ;
}

static int finish(struct printer *p, int ret, const struct xf_inspect_summary *sum,
		  const struct xf_error *e)
{
	cmd_bar_hide(&p->bar);
	if (p->o->json) {
		json_end(sum, ret, e);
	} else if (!p->o->quiet) {
		flush_run(p);
		if (!ret)
			print_summary(sum);
	}
	if (fflush(stdout) || ferror(stdout))
		return cmd_fail("inspect", EXIT_NOT_READ, "Writing the result failed (%s): expected the"
				" standard output to take it; check where it goes.", strerror(errno));
	if (ret)
		cmd_fail("inspect", 0, "%s", e->text);
	return status_of(ret);
}

int cmd_inspect(int argc, char **argv)
{
	struct xf_inspect_summary sum;
	struct xf_error error = { 0 };
	struct xf_transport_fd t;
	struct options o;
	struct printer p = { .o = &o };
	struct xf_inspect_sink sink = { .progress = print_progress, .ctx = &p };
	int fd, ret;

	ret = parse(argc, argv, &o);
	if (ret)
		return ret - 1;
	fd = open_input(&o, &p);
	if (fd < 0)
		return -fd;
	cmd_bar_init(&p.bar, !o.quiet);
	sink.item = o.json ? json_item : print_item;
	if (o.json)
		json_begin(o.file);
	xf_transport_fd_init(&t, fd);
	ret = xf_inspect(&t.base, &sink, &sum, &error);
	ret = finish(&p, ret, &sum, &error);
	if (fd != STDIN_FILENO)
		close(fd);
	return ret;
}
