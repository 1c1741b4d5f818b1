/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `xenferry bench map` shows: a table for people, JSON rows, marks for a tracer. */
#include "cmd_bench.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/utsname.h>

/* "pv" or "pvh", as the kernel of this Dom0 says. */
static const char *dom0_kind(char buf[16])
{
	FILE *f = fopen("/sys/hypervisor/guest_type", "re");
	char *got = f ? fgets(buf, 16, f) : NULL;

	if (f)
		fclose(f);
	if (!got)
		return "unknown";
	buf[strcspn(buf, "\n")] = '\0';
	for (char *c = buf; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return buf;
}

static const char *impl_of(const struct bench_result *r)
{
	return r->driver.batched ? "ours" : "stock";
}

static double per_operation(const struct bench_row *row, uint64_t count)
{
	return (double)count / (double)row->counted;
}

static void table_row(FILE *to, const struct bench_result *r, const struct bench_row *row)
{
	fprintf(to, "%8zu  %-8s %13" PRIu64 " %13" PRIu64 " %13" PRIu64 " %11.1f %11.1f", row->n,
		bench_op_name(row->op), row->median, row->min, row->max,
		(double)row->median / (double)row->n,
		r->ticks_per_ns > 0 ? (double)row->median / r->ticks_per_ns / 1000 : 0);
	if (row->counted)
		fprintf(to, " %11.2f %8.2f\n", per_operation(row, row->hypercalls), per_operation(row, row->flushes));
	else
		fprintf(to, " %11s %8s\n", "-", "-");
}

void cmd_bench_table(FILE *to, const struct cmd_bench_options *o, const struct bench_target *target,
		     const struct bench_result *r)
{
	char kind[16];

	fprintf(to, "domain %u (%s guest), Dom0 %s, xen-privcmd %s%s%s, %zu samples a figure, %.3f ticks a ns\n\n",
		target->domid, target->pv ? "PV" : "HVM or PVH", dom0_kind(kind),
		r->driver.batched ? "of xenferry " : "stock", r->driver.version,
		r->driver.batched ? "" : " (replacing in place needs xenferry's)", o->repeat, r->ticks_per_ns);
	fprintf(to, "%8s  %-8s %13s %13s %13s %11s %11s %11s %8s\n", "frames", "op", "median ticks", "min", "max",
		"per frame", "median us", "hypercalls", "flushes");
	for (size_t i = 0; i < r->rows_count; i++)
		table_row(to, r, &r->rows[i]);
}

static json_object *json_env(const struct bench_target *target, const struct bench_result *r)
{
	json_object *env = json_object_new_object();
	struct utsname name;

	if (uname(&name) == 0)
		json_object_object_add(env, "kernel", json_object_new_string(name.release));
	json_object_object_add(env, "xenferry", json_object_new_string(XENFERRY_VERSION));
	json_object_object_add(env, "module", json_object_new_string(r->driver.version));
	json_object_object_add(env, "guest", json_object_new_string(target->pv ? "pv" : "hvm"));
	json_object_object_add(env, "ticks_per_ns", json_object_new_double(r->ticks_per_ns));
	return env;
}

static json_object *json_count(const struct bench_row *row, uint64_t count)
{
	return row->counted ? json_object_new_double(per_operation(row, count)) : NULL;
}

static json_object *json_row(const struct cmd_bench_options *o, const struct bench_result *r,
			     const struct bench_row *row)
{
	json_object *j = json_object_new_object();
	char kind[16];

	json_object_object_add(j, "dom0", json_object_new_string(dom0_kind(kind)));
	json_object_object_add(j, "mode", json_object_new_string(o->mode));
	json_object_object_add(j, "n", json_object_new_int64((int64_t)row->n));
	json_object_object_add(j, "impl", json_object_new_string(impl_of(r)));
	json_object_object_add(j, "op", json_object_new_string(bench_op_name(row->op)));
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

	for (size_t i = 0; i < r->rows_count; i++)
		json_object_array_add(rows, json_row(o, r, &r->rows[i]));
	json_object_object_add(all, "env", json_env(target, r));
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
