// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/restore.h"

#include <errno.h>
#include <inttypes.h>

#include "engine/clock.h"
#include "engine/restore_internal.h"
#include "engine/restore_pv.h"

/* ---- records ------------------------------------------------------------ */

static int nothing(struct restore *r, const struct xf_record *rec)
{
	(void)r, (void)rec;
	return 0;
}

typedef int (*handler)(struct restore *, const struct xf_record *);

/* What an HVM guest's stream can hold; the reader refuses the rest. */
static const handler hvm_handlers[XF_REC_KNOWN] = {
	[XF_REC_END]		  = nothing,
	[XF_REC_PAGE_DATA]	  = restore_page_data,
	[XF_REC_X86_TSC_INFO]	  = restore_tsc,
	[XF_REC_HVM_CONTEXT]	  = restore_context,
	[XF_REC_HVM_PARAMS]	  = restore_params,
	[XF_REC_VERIFY]		  = restore_verify,
	[XF_REC_STATIC_DATA_END]  = restore_static_data_end,
	[XF_REC_X86_CPUID_POLICY] = restore_cpuid,
	[XF_REC_X86_MSR_POLICY]	  = restore_msrs,
};

static const handler pv_handlers[XF_REC_KNOWN] = {
	[XF_REC_END]			= nothing,
	[XF_REC_PAGE_DATA]		= restore_page_data,
	[XF_REC_X86_PV_INFO]		= restore_pv_info,
	[XF_REC_X86_PV_P2M_FRAMES]	= restore_pv_p2m,
	[XF_REC_X86_PV_VCPU_BASIC]	= restore_pv_vcpu,
	[XF_REC_X86_PV_VCPU_EXTENDED]	= restore_pv_vcpu,
	[XF_REC_X86_PV_VCPU_XSAVE]	= restore_pv_vcpu,
	[XF_REC_X86_PV_VCPU_MSRS]	= restore_pv_vcpu,
	[XF_REC_SHARED_INFO]		= restore_pv_shared_info,
	[XF_REC_X86_TSC_INFO]		= restore_tsc,
	[XF_REC_VERIFY]			= restore_verify,
	[XF_REC_STATIC_DATA_END]	= restore_static_data_end,
	[XF_REC_X86_CPUID_POLICY]	= restore_cpuid,
	[XF_REC_X86_MSR_POLICY]		= restore_msrs,
};

static int apply(struct restore *r, const struct xf_record *rec)
{
	const handler *handlers = r->pv ? pv_handlers : hvm_handlers;
	handler h = rec->type < XF_REC_KNOWN ? handlers[rec->type] : NULL;

	if (rec->skip) {
		report_debug(r->job->report, "Ignoring the optional record of type 0x%08x.", rec->type);
		return 0;
	}
	if (!h)
		return xf_error_set(r->err, -EOPNOTSUPP, "Record %" PRIu64 " of type 0x%08x is of no use"
				    " for such a guest; save or send the guest again.",
				    rec->number, rec->type);
	return h(r, rec);
}

static int records(struct restore *r)
{
	struct xf_record rec;
	int rc;

	do {
		double begun = clock_now();

		if (xf_reader_next(r->reader, &rec))
			return restore_unreadable(r);
		spent_since(begun, &r->spent.io);
		rc = apply(r, &rec);
		if (rc)
			return rc;
	} while (rec.type != XF_REC_END);
	r->last_record_at = clock_now();
	return 0;
}

/* ---- phases ------------------------------------------------------------- */

static int look(struct restore *r)
{
	int rc = r->guest->ops->info(r->guest, &r->info);

	if (rc)
		return failure(r->err, rc, r->guest, "Looking at the state");
	stats_restore_start(r->job->stats, 0);
	return r->info.hvm ? 0 : restore_pv_open(r);
}

static int headers(struct restore *r)
{
	int rc = xf_reader_open(&r->reader, r->job->in, XF_STREAM_PLAIN);

	if (rc)
		return failure(r->err, rc, r->guest, "Preparing the restore");
	if (xf_reader_headers(r->reader, &r->stream))
		return restore_unreadable(r);
	if (r->stream.guest != (r->pv ? XF_GUEST_X86_PV : XF_GUEST_X86_HVM))
		return xf_error_set(r->err, -EPROTO, "The stream holds a %s guest but domain %u is made for"
				    " a %s one; restore it with the configuration it was saved with.",
				    r->pv ? "PVH or HVM" : "PV", r->guest->domid, r->pv ? "PV" : "PVH or HVM");
	if (r->stream.xen_major)
		report_info(r->job->report, "Restoring domain %u from a stream of Xen %u.%u (version %u)",
			    r->guest->domid, r->stream.xen_major, r->stream.xen_minor, r->stream.version);
	else
		report_info(r->job->report, "Restoring domain %u from a legacy stream that converter"
			    " version %u rewrote", r->guest->domid, r->stream.xen_minor);
	return 0;
}

/* What was taken ahead and not asked for by the last record; nearly nothing, see restore_populate. */
static int give_back(struct restore *r)
{
	int rc = restore_give_back(r);

	r->given_back_at = clock_now();
	return rc;
}

static int tell_verdict(struct restore *r)
{
	if (r->result->mismatches)
		report_error(r->job->report, "The verify pass found %" PRIu64 " pages of domain %u that"
			     " differed from the sender's and put them right; something was missed before it,"
			     " please report that.",
			     r->result->mismatches, r->guest->domid);
	return 0;
}

static int complete(struct restore *r)
{
	return r->pv ? restore_pv_complete(r) : restore_complete(r);
}

static int (*const phases[])(struct restore *) = {
	look, headers, restore_pages_open, records, give_back, tell_verdict, complete,
};

static void tell_end(struct restore *r, int rc)
{
	double now = clock_now();
	const struct stats_restore_end e = {
		.result = rc,
		.bytes = (int64_t)r->job->in->bytes_read,
		.pages = (int64_t)restore_pages_count(r),
		.cleared = (int64_t)restore_pages_cleared(r),
		.put_right = r->compared ? (int64_t)r->result->mismatches : -1,
		.apply_ms = clock_ms(r->last_record_at, now),
		.give_back_ms = clock_ms(r->last_record_at, r->given_back_at),
		.complete_ms = clock_ms(r->given_back_at, now),
		.spent = &r->spent,
	};

	stats_restore_end(r->job->stats, &e);
}

int engine_restore(const struct restore_job *job, struct restore_result *result,
		   struct xf_error *err)
{
	struct restore r = { .job = job, .result = result, .guest = job->guest, .err = err };
	int rc = 0;

	*result = (struct restore_result) { 0 };
	for (size_t i = 0; !rc && i < sizeof(phases) / sizeof(phases[0]); i++)
		rc = phases[i](&r);
	tell_end(&r, rc);
	restore_pages_close(&r);
	restore_pv_close(&r);
	xf_reader_close(r.reader);
	guest_blob_free(&r.cpuid);
	guest_blob_free(&r.msrs);
	guest_blob_free(&r.context);
	return rc;
}
