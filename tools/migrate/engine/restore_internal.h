/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of a restore only. */
#ifndef XENFERRY_RESTORE_INTERNAL_H
#define XENFERRY_RESTORE_INTERNAL_H

#include <stdbool.h>

#include "guest/failure.h"
#include "engine/restore.h"
#include "stream/reader.h"

struct restore_pages;
struct restore_pv;

struct restore {
	const struct restore_job *job;
	struct restore_result *result;
	struct guest *guest;
	struct xf_error *err;
	struct guest_info info;
	struct xf_reader *reader;
	struct xf_stream_info stream;
	struct restore_pages *pages;
	struct restore_pv *pv;	/* NULL: no PV guest */
	bool static_done;
	bool compared;		/* there was a verify pass */
	/* kept until they can be applied */
	struct guest_blob cpuid, msrs, context;
	double last_record_at, given_back_at;
	struct spent spent;
};

/* pages */
int  restore_pages_open(struct restore *r);
void restore_pages_close(struct restore *r);
/* Memory behind pages that the stream doesn't have as memory. */
int  restore_give_back(struct restore *r);
uint64_t restore_pages_count(const struct restore *r);	/* contents put in place so far */
uint64_t restore_pages_cleared(const struct restore *r);	/* pages that had somebody's old contents */
int  restore_page_data(struct restore *r, const struct xf_record *rec);
int  restore_verify(struct restore *r, const struct xf_record *rec);

/* state */
/* The body, into memory of its own; what was there before is freed. */
int restore_keep(struct restore *r, const struct xf_record *rec, struct guest_blob *into);
/* A record that is not static has come: version 2 has no other word for it. */
int restore_static_data_over(struct restore *r, const struct xf_record *rec);
int restore_static_data_end(struct restore *r, const struct xf_record *rec);
int restore_cpuid(struct restore *r, const struct xf_record *rec);
int restore_msrs(struct restore *r, const struct xf_record *rec);
int restore_tsc(struct restore *r, const struct xf_record *rec);
int restore_params(struct restore *r, const struct xf_record *rec);
int restore_context(struct restore *r, const struct xf_record *rec);
int restore_complete(struct restore *r);

/* A page of zeroes at gfn. */
int restore_clear_page(struct restore *r, uint64_t gfn, const char *what, struct xf_error *err);

/* The reader refused, and has said why. */
static inline int restore_unreadable(struct restore *r)
{
	return failure_from(r->err, xf_reader_error(r->reader));
}

#endif
