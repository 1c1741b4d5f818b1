// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engine/restore_pv.h"
#include "engine/restore_pv_internal.h"
#include "pv/vcpu.h"

static int lacks(struct restore *r, const char *what)
{
	return xf_error_set(r->err, -EPROTO, "The stream of domain %u ended without %s, expected it before the"
			    " end; %s.", r->guest->domid, what, XF_ADVICE_DAMAGED);
}

static int check(struct restore *r)
{
	if (!r->pv->shared_info.size)
		return lacks(r, "SHARED_INFO");
	if (!r->pv->vcpus[0].parts[GUEST_VCPU_BASIC].size)
		return lacks(r, "the registers of vCPU 0");
	return 0;
}

static int write_p2m(struct restore *r)
{
	return pv_target_write_p2m(r->pv->target, r->pv->p2m, r->pv->p2m_pages, r->err);
}

static int localise(struct restore *r)
{
	return pv_target_localise(r->pv->target, r->err);
}

static int shared_info(struct restore *r)
{
	return pv_target_shared_info(r->pv->target, r->pv->shared_info.data, r->err);
}

/* Where vCPU 0's RDX says; its registers hold mfns from here on. */
static int start_info(struct restore *r)
{
	const vcpu_guest_context_t *first = r->pv->vcpus[0].parts[GUEST_VCPU_BASIC].data;
	struct pv_start_info s = {
		.pages = r->pv->pfns,
		.store_port = r->job->store.evtchn, .console_port = r->job->console.evtchn,
	};
	struct pv_bad_register bad;
	int rc;

	s.pfn = first->user_regs.rdx;
	for (unsigned i = 0; i < r->pv->target->info.vcpus; i++) {
		struct guest_blob *b = &r->pv->vcpus[i].parts[GUEST_VCPU_BASIC];

		if (b->size && pv_vcpu_to_mfns(&r->pv->target->frames, r->pv->target->types, i == 0, b->data, &bad))
			return xf_error_set(r->err, -EPROTO, "The %s of vCPU %u is 0x%" PRIx64 " in the stream of"
					    " domain %u, expected %s; %s.", bad.name, i, bad.value,
					    r->guest->domid, bad.expected, XF_ADVICE_DAMAGED);
	}
	rc = pv_target_start_info(r->pv->target, &s, r->err);
	r->result->store_gfn = s.store_frame;
	r->result->console_gfn = s.console_frame;
	return rc;
}

static int pin(struct restore *r)
{
	return pv_target_pin(r->pv->target, r->err);
}

static const char *const doing[GUEST_VCPU_PARTS] = {
	[GUEST_VCPU_BASIC]    = "Setting the registers of a vCPU",
	[GUEST_VCPU_EXTENDED] = "Setting the extended state of a vCPU",
	[GUEST_VCPU_XSAVE]    = "Setting the XSAVE state of a vCPU",
	[GUEST_VCPU_MSRS]     = "Setting the MSRs of a vCPU",
};

static int vcpus(struct restore *r)
{
	struct guest *raw = r->pv->target->around.raw;

	for (unsigned i = 0; i < r->pv->target->info.vcpus; i++)
		for (int part = 0; part < GUEST_VCPU_PARTS; part++) {
			const struct guest_blob *b = &r->pv->vcpus[i].parts[part];
			int rc = b->size ? raw->ops->pv->vcpu_set(raw, i, (enum guest_vcpu_part)part, b) : 0;

			if (rc)
				return failure(r->err, rc, r->guest, doing[part]);
		}
	return 0;
}

static int seed(struct restore *r)
{
	const struct guest_seed s = {
		.console_gfn = r->result->console_gfn, .console_domid = r->job->console.domid,
		.store_gfn = r->result->store_gfn, .store_domid = r->job->store.domid,
	};
	int rc = r->guest->ops->grants_seed(r->guest, &s);

	return rc ? failure(r->err, rc, r->guest, "Seeding the grant table") : 0;
}

/* A table may be pinned when nothing writable is mapped any more; registers hold on to tables. */
static int (*const steps[])(struct restore *) = {
	check, write_p2m, localise, shared_info, start_info, pin, vcpus, seed,
};

int restore_pv_complete(struct restore *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](r);
	return rc;
}
