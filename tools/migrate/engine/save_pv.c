// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/save_pv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "guest/failure.h"
#include "pv/vcpu.h"

static int put(struct save *s, uint32_t type, const struct iovec *iov, size_t n)
{
	int rc = xf_writer_record(s->writer, type, iov, n);

	return rc ? failure_from(s->err, xf_writer_error(s->writer)) : 0;
}

int save_pv_info(struct save *s)
{
	struct xf_pv_info info = { .guest_width = 8, .pt_levels = 4 };
	struct iovec iov = { &info, sizeof(info) };

	return put(s, XF_REC_X86_PV_INFO, &iov, 1);
}

int save_pv_p2m(struct save *s)
{
	const struct pv_p2m *p2m = &s->pv->p2m;
	struct xf_pv_p2m_frames head = { .start_pfn = 0, .end_pfn = (uint32_t)(p2m->frames.pfns - 1) };
	struct iovec iov[] = { { &head, sizeof(head) }, { p2m->pfns, p2m->n * sizeof(*p2m->pfns) } };

	s->pv->moved = false;
	return put(s, XF_REC_X86_PV_P2M_FRAMES, iov, 2);
}

int save_pv_look_last(struct save *s)
{
	int rc = pv_source_look(s->pv, true, s->err);

	return !rc && s->pv->moved ? save_pv_p2m(s) : rc;
}

static int save_shared_info(struct save *s)
{
	struct iovec iov = { (void *)(uintptr_t)s->pv->p2m.shared, XF_PAGE_SIZE };

	return put(s, XF_REC_SHARED_INFO, &iov, 1);
}

/* ---- vCPUs -------------------------------------------------------------- */

static const struct {
	uint32_t record;
	const char *doing;
} parts[GUEST_VCPU_PARTS] = {
	[GUEST_VCPU_BASIC]    = { XF_REC_X86_PV_VCPU_BASIC, "Reading the registers of a vCPU" },
	[GUEST_VCPU_EXTENDED] = { XF_REC_X86_PV_VCPU_EXTENDED, "Reading the extended state of a vCPU" },
	[GUEST_VCPU_XSAVE]    = { XF_REC_X86_PV_VCPU_XSAVE, "Reading the XSAVE state of a vCPU" },
	[GUEST_VCPU_MSRS]     = { XF_REC_X86_PV_VCPU_MSRS, "Reading the MSRs of a vCPU" },
};

static int normalise_registers(struct save *s, unsigned vcpu, struct guest_blob *b)
{
	struct pv_bad_register bad;

	if (b->size != sizeof(vcpu_guest_context_t))
		return xf_error_set(s->err, -EPROTO, "Xen gave %zu bytes of registers for vCPU %u of domain"
				    " %u, expected %zu; use a xenferry made for this Xen.", b->size, vcpu,
				    s->guest->domid, sizeof(vcpu_guest_context_t));
	if (!pv_vcpu_to_pfns(&s->pv->p2m.frames, vcpu == 0, b->data, &bad))
		return 0;
	return xf_error_set(s->err, -ERANGE, "The %s of vCPU %u of domain %u is 0x%" PRIx64 ", expected %s;"
			    " this guest's kernel can't be migrated.", bad.name, vcpu, s->guest->domid,
			    bad.value, bad.expected);
}

static int save_part(struct save *s, unsigned vcpu, enum guest_vcpu_part part)
{
	struct guest *raw = s->pv->around.raw;
	struct xf_pv_vcpu head = { .vcpu_id = vcpu };
	struct guest_blob b = { NULL, 0 };
	int rc = raw->ops->pv->vcpu_get(raw, vcpu, part, &b);

	if (rc)
		return failure(s->err, rc, s->guest, parts[part].doing);
	if (part == GUEST_VCPU_BASIC)
		rc = normalise_registers(s, vcpu, &b);
	if (!rc && b.size) {
		struct iovec iov[] = { { &head, sizeof(head) }, { b.data, b.size } };

		rc = put(s, parts[part].record, iov, 2);
	}
	guest_blob_free(&b);
	return rc;
}

static int save_vcpu(struct save *s, unsigned vcpu)
{
	struct guest *raw = s->pv->around.raw;
	bool online;
	int rc = raw->ops->pv->vcpu_online(raw, vcpu, &online);

	if (rc)
		return failure(s->err, rc, s->guest, "Looking at a vCPU");
	for (int part = 0; !rc && online && part < GUEST_VCPU_PARTS; part++)
		rc = save_part(s, vcpu, (enum guest_vcpu_part)part);
	return rc;
}

int save_pv_state(struct save *s)
{
	int rc = save_shared_info(s);

	for (unsigned i = 0; !rc && i < s->pv->info.vcpus; i++)
		rc = save_vcpu(s, i);
	return rc;
}
