// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/restore_internal.h"

#include <xen/hvm/params.h>	/* needs stdint.h before it */

/* Gone from the header; old releases' streams have it. */
#define PARAM_PAE_ENABLED 4

/* The reader has bounded the length; a second record of a kind replaces the first. */
int restore_keep(struct restore *r, const struct xf_record *rec, struct guest_blob *into)
{
	void *data = calloc(1, rec->length ? rec->length : 1);

	if (!data)
		return xf_error_set(r->err, -ENOMEM, "No memory for a record of %u bytes; free some"
				    " memory in Dom0.", rec->length);
	if (xf_reader_body(r->reader, data, rec->length)) {
		free(data);
		return restore_unreadable(r);
	}
	guest_blob_free(into);
	*into = (struct guest_blob) { data, rec->length };
	return 0;
}

/* ---- static data -------------------------------------------------------- */

int restore_cpuid(struct restore *r, const struct xf_record *rec)
{
	return restore_keep(r, rec, &r->cpuid);
}

int restore_msrs(struct restore *r, const struct xf_record *rec)
{
	return restore_keep(r, rec, &r->msrs);
}

static int apply_policy(struct restore *r)
{
	char why[128];
	int rc;

	if (!r->cpuid.size && !r->msrs.size)
		return 0;
	rc = r->guest->ops->policy_set(r->guest, &r->cpuid, &r->msrs, why, sizeof(why));
	if (!rc)
		return 0;
	return xf_error_set(r->err, rc, "Setting the CPU policy of domain %u failed (%s%s%s), expected"
			    " this host to offer what the guest was started with; send it to a host with"
			    " such a CPU.", r->guest->domid, strerror(-rc), *why ? ", " : "", why);
}

int restore_static_data_end(struct restore *r, const struct xf_record *rec)
{
	const struct restore_hooks *hooks = r->job->hooks;
	unsigned missing = (r->cpuid.size ? 0 : RESTORE_MISSING_CPUID) |
			   (r->msrs.size ? 0 : RESTORE_MISSING_MSR);
	int rc = apply_policy(r);

	(void)rec;
	r->static_done = true;
	if (rc || !hooks->static_data_done)
		return rc;
	rc = hooks->static_data_done(hooks->data, missing);
	if (rc)
		return xf_error_set(r->err, rc, "The toolstack could not make up for static data that"
				    " the stream of domain %u lacks (%s%s%s); see its own messages.",
				    r->guest->domid, missing & RESTORE_MISSING_CPUID ? "CPUID" : "",
				    missing == 3 ? ", " : "",
				    missing & RESTORE_MISSING_MSR ? "MSRs" : missing ? "" : "nothing");
	return 0;
}

int restore_static_data_over(struct restore *r, const struct xf_record *rec)
{
	return r->static_done ? 0 : restore_static_data_end(r, rec);
}

/* ---- the rest ----------------------------------------------------------- */

int restore_tsc(struct restore *r, const struct xf_record *rec)
{
	struct xf_tsc_info info;
	struct guest_tsc tsc;
	int rc;

	(void)rec;
	if (xf_reader_body(r->reader, &info, sizeof(info)))
		return restore_unreadable(r);
	tsc = (struct guest_tsc) {
		.mode = info.mode, .khz = info.khz, .nsec = info.nsec, .incarnation = info.incarnation,
	};
	rc = r->guest->ops->tsc_set(r->guest, &tsc);
	return rc ? failure(r->err, rc, r->guest, "Setting the TSC") : 0;
}

/*
 * Pages the far ends and the guest start afresh with: what lay in the rings was
 * for the old ones.
 */
static int start_afresh(struct restore *r, const struct xf_hvm_param *p)
{
	struct xf_error ignored = { .code = 0 };

	switch (p->index) {
	case HVM_PARAM_CONSOLE_PFN:
		r->result->console_gfn = p->value;
		return restore_clear_page(r, p->value, "console", r->err);
	case HVM_PARAM_STORE_PFN:
		r->result->store_gfn = p->value;
		return restore_clear_page(r, p->value, "store", r->err);
	case HVM_PARAM_IOREQ_PFN:
	case HVM_PARAM_BUFIOREQ_PFN:
		/* Xen takes them out of the p2m while a device model runs: none there is fine. */
		restore_clear_page(r, p->value, "I/O request", &ignored);
		return 0;
	default:
		return 0;
	}
}

static int set_param(struct restore *r, const struct xf_hvm_param *p)
{
	int rc = start_afresh(r, p);

	/* Old releases passed it on; it has no meaning for a domain any more. */
	if (rc || p->index == PARAM_PAE_ENABLED)
		return rc;
	rc = p->index > UINT32_MAX ? -EINVAL :
	     r->guest->ops->param_set(r->guest, (uint32_t)p->index, p->value);
	if (rc)
		return xf_error_set(r->err, rc, "Setting HVM parameter %" PRIu64 " of domain %u to 0x%"
				    PRIx64 " failed (%s); the stream is damaged or of a newer Xen, see"
				    " \"xl dmesg\".", p->index, r->guest->domid, p->value, strerror(-rc));
	return 0;
}

int restore_params(struct restore *r, const struct xf_record *rec)
{
	struct guest_blob body = { NULL, 0 };
	struct xf_hvm_params head;
	int rc = restore_keep(r, rec, &body);

	if (rc)
		return rc;
	/* Its count fits its length, or the reader would have refused it; 0 is what Xen 4.6 wrote at times. */
	memcpy(&head, body.data, sizeof(head));
	for (uint32_t i = 0; !rc && i < head.count; i++) {
		struct xf_hvm_param p;

		memcpy(&p, (char *)body.data + sizeof(head) + i * sizeof(p), sizeof(p));
		rc = set_param(r, &p);
	}
	guest_blob_free(&body);
	return rc;
}

/* Applied at the end: parameters decide how it is understood. */
int restore_context(struct restore *r, const struct xf_record *rec)
{
	return restore_keep(r, rec, &r->context);
}

int restore_complete(struct restore *r)
{
	const struct guest_ops *ops = r->guest->ops;
	const struct guest_seed seed = {
		.console_gfn = r->result->console_gfn, .console_domid = r->job->console.domid,
		.store_gfn = r->result->store_gfn, .store_domid = r->job->store.domid,
	};
	int rc = ops->param_set(r->guest, HVM_PARAM_STORE_EVTCHN, r->job->store.evtchn);

	if (!rc)
		rc = ops->param_set(r->guest, HVM_PARAM_CONSOLE_EVTCHN, r->job->console.evtchn);
	if (rc)
		return failure(r->err, rc, r->guest, "Setting the store's and console's event channels");
	rc = ops->context_set(r->guest, &r->context);
	if (rc)
		return failure(r->err, rc, r->guest, "Setting the HVM context");
	rc = ops->grants_seed(r->guest, &seed);
	return rc ? failure(r->err, rc, r->guest, "Seeding the grant table") : 0;
}
