/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_dirty_rate.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>

#include "cmd.h"

/* What a page costs on the wire: its number goes with it. */
#define BYTES_A_PAGE (GUEST_PAGE_SIZE + 8)

static const unsigned usual_mbit[] = { 100, 1000, 10000 };

/* The k-th bandwidth there is something to say about, 0: no more. */
static unsigned bandwidth(const struct dirty_rate_options *o, size_t k)
{
	if (o->bandwidth)
		return k ? 0 : o->bandwidth;
	return k < sizeof(usual_mbit) / sizeof(usual_mbit[0]) ? usual_mbit[k] : 0;
}

/* A limit that a migration would have counts, too. */
static void predict(const struct dirty_rate_report *r, unsigned mbit, struct forecast *f)
{
	double bytes_s = mbit * 125000.0;

	if (r->config->max_bandwidth && (double)r->config->max_bandwidth < bytes_s)
		bytes_s = (double)r->config->max_bandwidth;
	forecast(&r->w->curve, bytes_s / BYTES_A_PAGE, &r->config->limits, f);
}

static double watched_s(const struct dirty_rate_report *r)
{
	return r->w->samples[r->w->n - 1].seconds;
}

static uint64_t working_set(const struct dirty_rate_report *r)
{
	return r->w->samples[r->w->n - 1].pages;
}

static const char *why(const struct forecast *f)
{
	switch (f->reason) {
	case POLICY_SHORT_PAUSE:
		return "the pause is short enough";
	case POLICY_IS_STUCK:
		return "it dirties memory as fast as it is sent";
	case POLICY_MAX_ROUNDS:
		return "max-rounds is reached";
	case POLICY_MAX_TIME:
		return "max-time is reached";
	default:
		return "it goes on and on";
	}
}

static void print_forecast(FILE *to, unsigned mbit, const struct forecast *f)
{
	char size[32];

	fprintf(to, "  %9u  %7u  %11s", mbit, f->rounds, cmd_size(size, (uint64_t)(f->pages * BYTES_A_PAGE)));
	if (f->gives_up)
		fprintf(to, "  %10.1f  %9s", f->total_s, "gives up");
	else
		fprintf(to, "  %10.1f  %9.0f", f->total_s, f->pause_ms);
	fprintf(to, "  %s", why(f));
	if (f->cap < 100)
		fprintf(to, ", throttled to %u %%", f->cap);
	fputc('\n', to);
}

void dirty_rate_print(FILE *to, const struct dirty_rate_report *r)
{
	double rate = dirty_curve_rate(&r->w->curve);
	uint64_t held = r->w->curve.most, pages = working_set(r);
	struct forecast f;
	char size[32];

	fprintf(to, "Watched \"%s\" (number %u, %" PRIu64 " pages, %s) for %.1f s.\n", r->o->domain, r->domid, held,
		cmd_size(size, held * GUEST_PAGE_SIZE), watched_s(r));
	fprintf(to, "  dirties      %10.0f pages/s  %8.1f MB/s  (different pages in its busiest second)\n", rate,
		rate * GUEST_PAGE_SIZE / 1e6);
	fprintf(to, "  working set  %10" PRIu64 " pages    %8s       (different pages in all that time)\n", pages,
		cmd_size(size, pages * GUEST_PAGE_SIZE));
	if (!pages)
		fprintf(to, "It wrote nothing at all: is it paused (\"xl list\" shows a p)?\n");
	fprintf(to, "\nA migration, should it go on like this and no page be zero:\n");
	fprintf(to, "  %9s  %7s  %11s  %10s  %9s  %s\n", "Mbit/s", "rounds", "sent", "total s", "pause ms",
		"it is suspended when");
	for (size_t k = 0; bandwidth(r->o, k); k++) {
		predict(r, bandwidth(r->o, k), &f);
		print_forecast(to, bandwidth(r->o, k), &f);
	}
}

/* ---- for machines ------------------------------------------------------------- */

static struct json_object *real(double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.3f", value);
	return json_object_new_double_s(value, text);
}

static struct json_object *count(double value)
{
	return json_object_new_int64((int64_t)(value + 0.5));
}

static struct json_object *forecast_json(unsigned mbit, const struct forecast *f)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "mbit_s", json_object_new_int64(mbit));
	json_object_object_add(o, "rounds", json_object_new_int64(f->rounds));
	json_object_object_add(o, "pages", count(f->pages));
	json_object_object_add(o, "total_s", real(f->total_s));
	json_object_object_add(o, "gives_up", json_object_new_boolean(f->gives_up));
	json_object_object_add(o, "last_pages", f->gives_up ? NULL : count(f->last_pages));
	json_object_object_add(o, "pause_ms", f->gives_up ? NULL : real(f->pause_ms));
	json_object_object_add(o, "stopped_for", json_object_new_string(policy_reason_name(f->reason)));
	json_object_object_add(o, "cap", json_object_new_int64(f->cap));
	return o;
}

static struct json_object *samples_json(const struct watched *w)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < w->n; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "s", real(w->samples[i].seconds));
		json_object_object_add(o, "pages", json_object_new_int64((int64_t)w->samples[i].pages));
		json_object_array_add(all, o);
	}
	return all;
}

int dirty_rate_json(FILE *to, const struct dirty_rate_report *r)
{
	struct json_object *all = json_object_new_object(), *forecasts = json_object_new_array();
	double rate = dirty_curve_rate(&r->w->curve);
	struct forecast f;

	for (size_t k = 0; bandwidth(r->o, k); k++) {
		predict(r, bandwidth(r->o, k), &f);
		json_object_array_add(forecasts, forecast_json(bandwidth(r->o, k), &f));
	}
	json_object_object_add(all, "domain", json_object_new_string(r->o->domain));
	json_object_object_add(all, "domid", json_object_new_int64(r->domid));
	json_object_object_add(all, "memory_pages", json_object_new_int64((int64_t)r->w->curve.most));
	json_object_object_add(all, "seconds", real(watched_s(r)));
	json_object_object_add(all, "dirty_pages_s", real(rate));
	json_object_object_add(all, "dirty_mb_s", real(rate * GUEST_PAGE_SIZE / 1e6));
	json_object_object_add(all, "working_set_pages", json_object_new_int64((int64_t)working_set(r)));
	json_object_object_add(all, "samples", samples_json(r->w));
	json_object_object_add(all, "forecasts", forecasts);
	return cmd_write_json(to, all);
}
