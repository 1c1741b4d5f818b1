/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `xenferry bench map` shows: a table for people, JSON rows, marks for a tracer. */
#include "cmd_bench.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <time.h>

static const char *impl_of(const struct bench_result *r)
{
	return r->driver.batched ? "ours" : "stock";
}

static double per_operation(const struct bench_row *row, uint64_t count)
{
	return (double)count / (double)row->counted;
}

static double per_frame(const struct bench_row *row)
{
	return (double)row->median / (double)(row->n * (row->rounds ? row->rounds : 1));
}

static void table_row(FILE *to, const struct bench_result *r, const struct bench_row *row)
{
	fprintf(to, "%8zu  %-8s %7zu %13" PRIu64 " %13" PRIu64 " %13" PRIu64 " %11.1f %11.1f", row->n,
		bench_op_name(row->op), row->samples, row->median, row->min, row->max, per_frame(row),
		r->ticks_per_ns > 0 ? (double)row->median / r->ticks_per_ns / 1000 : 0);
	if (row->counted)
		fprintf(to, " %11.2f %8.2f\n", per_operation(row, row->hypercalls), per_operation(row, row->flushes));
	else
		fprintf(to, " %11s %8s\n", "-", "-");
}

void cmd_bench_table(FILE *to, const struct cmd_bench_options *o, const struct bench_target *target,
		     const struct bench_result *r)
{
	struct bench_host host;

	bench_host(&host);
	fprintf(to, "domain %u (%s guest), Dom0 %s, Linux %s, Xen %s, xen-privcmd %s%s%s, %.3f ticks a ns\n",
		target->domid, target->pv ? "PV" : "HVM or PVH", host.dom0, host.kernel, host.xen[0] ? host.xen : "unknown",
		r->driver.batched ? "of xenferry " : "stock", r->driver.version,
		r->driver.batched ? "" : " (replacing in place needs xenferry's)", r->ticks_per_ns);
	if (o->rounds)
		fprintf(to, "each sample is %zu times map and unmap\n", o->rounds);
	fprintf(to, "\n%8s  %-8s %7s %13s %13s %13s %11s %11s %11s %8s\n", "frames", "op", "samples", "median ticks",
		"min", "max", "per frame", "median us", "hypercalls", "flushes");
	for (size_t i = 0; i < r->rows_count; i++)
		table_row(to, r, &r->rows[i]);
}

static void add_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

static json_object *json_env(const struct bench_target *target, const struct bench_result *r,
			     const struct bench_host *host)
{
	json_object *env = json_object_new_object();
	time_t now = time(NULL);
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	add_text(env, "date", date);
	add_text(env, "kernel", host->kernel);
	add_text(env, "xen", host->xen);
	add_text(env, "cpu", host->cpu);
	add_text(env, "xenferry", XENFERRY_VERSION);
	add_text(env, "module", r->driver.version);
	add_text(env, "guest", target->pv ? "pv" : "hvm");
	json_object_object_add(env, "ticks_per_ns", json_object_new_double(r->ticks_per_ns));
	return env;
}

static json_object *json_count(const struct bench_row *row, uint64_t count)
{
	return row->counted ? json_object_new_double(per_operation(row, count)) : NULL;
}

static json_object *json_row(const struct cmd_bench_options *o, const struct bench_result *r,
			     const struct bench_host *host, const struct bench_row *row)
{
	json_object *j = json_object_new_object();

	add_text(j, "dom0", host->dom0);
	add_text(j, "kernel", host->kernel);
	add_text(j, "mode", o->mode);
	json_object_object_add(j, "n", json_object_new_int64((int64_t)row->n));
	add_text(j, "impl", impl_of(r));
	add_text(j, "op", bench_op_name(row->op));
	if (row->rounds)
		json_object_object_add(j, "rounds", json_object_new_int64((int64_t)row->rounds));
	json_object_object_add(j, "median", json_object_new_uint64(row->median));
	json_object_object_add(j, "min", json_object_new_uint64(row->min));
	json_object_object_add(j, "max", json_object_new_uint64(row->max));
	json_object_object_add(j, "samples", json_object_new_int64((int64_t)row->samples));
	json_object_object_add(j, "hypercalls", json_count(row, row->hypercalls));
	json_object_object_add(j, "flushes", json_count(row, row->flushes));
	return j;
}

int cmd_bench_write_json(const struct cmd_bench_options *o, const struct bench_target *target,
			 const struct bench_result *r)
{
	json_object *all = json_object_new_object(), *rows = json_object_new_array();
	FILE *f = fopen(o->json, "we");
	int rc = f ? 0 : -errno;
	struct bench_host host;

	bench_host(&host);
	for (size_t i = 0; i < r->rows_count; i++)
		json_object_array_add(rows, json_row(o, r, &host, &r->rows[i]));
	json_object_object_add(all, "env", json_env(target, r, &host));
	json_object_object_add(all, "rows", rows);
	if (f) {
		fprintf(f, "%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
		if (ferror(f))
			rc = -EIO;
		if (fclose(f))
			rc = -errno;
	}
	json_object_put(all);
	return rc;
}

int cmd_bench_write_marks(const struct cmd_bench_options *o, const struct bench_result *r)
{
	FILE *f = fopen(o->marks, "we");
	int rc = 0;

	if (!f)
		return -errno;
	for (size_t i = 0; i < r->rows_count; i++)
		for (size_t s = 0; s < r->rows[i].samples; s++)
			fprintf(f, "%s %zu %" PRIu64 " %" PRIu64 "\n", bench_op_name(r->rows[i].op), r->rows[i].n,
				r->rows[i].sample[s].begin, r->rows[i].sample[s].end);
	if (ferror(f))
		rc = -EIO;
	if (fclose(f))
		rc = -errno;
	return rc;
}
