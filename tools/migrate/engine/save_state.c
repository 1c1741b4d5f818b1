// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/failure.h"
#include "engine/save_internal.h"
#include "engine/save_pv.h"

#include <xen/hvm/params.h>	/* needs stdint.h before it */

/*
 * The parameters a guest takes along. Store and console are needed by every
 * receiver; the others matter to guests that use what they stand for.
 */
static const uint32_t params[] = {
	HVM_PARAM_STORE_PFN,
	HVM_PARAM_CONSOLE_PFN,
	HVM_PARAM_IOREQ_PFN,
	HVM_PARAM_BUFIOREQ_PFN,
	HVM_PARAM_IOREQ_SERVER_PFN,
	HVM_PARAM_NR_IOREQ_SERVER_PAGES,
	HVM_PARAM_PAGING_RING_PFN,
	HVM_PARAM_MONITOR_RING_PFN,
	HVM_PARAM_SHARING_RING_PFN,
	HVM_PARAM_IDENT_PT,
	HVM_PARAM_VM86_TSS_SIZED,
	HVM_PARAM_ACPI_IOPORTS_LOCATION,
	HVM_PARAM_VM_GENERATION_ID_ADDR,
	HVM_PARAM_VIRIDIAN,
	HVM_PARAM_X87_FIP_WIDTH,
	HVM_PARAM_MCA_CAP,
};
#define PARAMS (sizeof(params) / sizeof(params[0]))

static int put(struct save *s, uint32_t type, const void *body, size_t size)
{
	int rc = xf_writer_blob(s->writer, type, body, size);

	return rc ? failure_from(s->err, xf_writer_error(s->writer)) : 0;
}

/* A record without contents is left out, as the stream's documentation asks. */
static int put_blob(struct save *s, uint32_t type, const struct guest_blob *b)
{
	return b->size ? put(s, type, b->data, b->size) : 0;
}

int save_static_data(struct save *s)
{
	struct guest_blob cpuid, msrs;
	int rc = s->guest->ops->policy_get(s->guest, &cpuid, &msrs);

	if (rc)
		return failure(s->err, rc, s->guest, "Reading the CPU policy");
	rc = s->pv ? save_pv_info(s) : 0;
	if (!rc)
		rc = put_blob(s, XF_REC_X86_CPUID_POLICY, &cpuid);
	if (!rc)
		rc = put_blob(s, XF_REC_X86_MSR_POLICY, &msrs);
	if (!rc)
		rc = put(s, XF_REC_STATIC_DATA_END, NULL, 0);
	if (!rc && s->pv)
		rc = save_pv_p2m(s);
	/* The receiver can work on it while we look for memory. */
	if (!rc && xf_writer_flush(s->writer))
		rc = failure_from(s->err, xf_writer_error(s->writer));
	guest_blob_free(&cpuid);
	guest_blob_free(&msrs);
	return rc;
}

static int save_tsc(struct save *s)
{
	struct guest_tsc tsc;
	struct xf_tsc_info info;
	int rc = s->guest->ops->tsc_get(s->guest, &tsc);

	if (rc)
		return failure(s->err, rc, s->guest, "Reading the TSC");
	info = (struct xf_tsc_info) {
		.mode = tsc.mode, .khz = tsc.khz, .nsec = tsc.nsec, .incarnation = tsc.incarnation,
	};
	return put(s, XF_REC_X86_TSC_INFO, &info, sizeof(info));
}

static int save_params(struct save *s)
{
	struct {
		struct xf_hvm_params head;
		struct xf_hvm_param entries[PARAMS];
	} body = { .head = { .count = 0 } };

	for (size_t i = 0; i < PARAMS; i++) {
		uint64_t value;
		int rc = s->guest->ops->param_get(s->guest, params[i], &value);

		if (rc)
			return failure(s->err, rc, s->guest, "Reading an HVM parameter");
		if (value)
			body.entries[body.head.count++] = (struct xf_hvm_param) { params[i], value };
	}
	if (!body.head.count)
		return 0;
	return put(s, XF_REC_HVM_PARAMS, &body,
		   sizeof(body.head) + body.head.count * sizeof(body.entries[0]));
}

static int save_context(struct save *s)
{
	struct guest_blob context;
	int rc = s->guest->ops->context_get(s->guest, &context);

	if (rc)
		return failure(s->err, rc, s->guest, "Reading the HVM context");
	rc = put_blob(s, XF_REC_HVM_CONTEXT, &context);
	guest_blob_free(&context);
	return rc;
}

/* Parameters go before the context: some decide how that is understood. */
int save_state(struct save *s)
{
	int rc = save_tsc(s);

	if (s->pv)
		return rc ? rc : save_pv_state(s);
	if (!rc)
		rc = save_params(s);
	if (!rc)
		rc = save_context(s);
	return rc;
}
