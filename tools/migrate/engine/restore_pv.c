// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of a PV guest are kept until all of memory is there: see restore_pv_complete.c. */
#include "engine/restore_pv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/restore_pages.h"
#include "engine/restore_pv_internal.h"

int restore_pv_open(struct restore *r)
{
	struct restore_pv *pv = calloc(1, sizeof(*pv));
	int rc = pv ? pv_target_open(r->guest, &pv->target, r->err) : -ENOMEM;

	if (rc) {
		if (!pv)
			failure(r->err, rc, r->guest, "Preparing the restore");
		free(pv);
		return rc;
	}
	r->pv = pv;
	r->guest = pv_target_guest(pv->target);
	pv->vcpus = calloc(pv->target->info.vcpus, sizeof(*pv->vcpus));
	return pv->vcpus ? 0 : failure(r->err, -ENOMEM, r->guest, "Preparing the restore");
}

void restore_pv_close(struct restore *r)
{
	struct restore_pv *pv = r->pv;

	if (!pv)
		return;
	for (unsigned i = 0; pv->vcpus && i < pv->target->info.vcpus; i++)
		for (int part = 0; part < GUEST_VCPU_PARTS; part++)
			guest_blob_free(&pv->vcpus[i].parts[part]);
	free(pv->vcpus);
	free(pv->p2m);
	guest_blob_free(&pv->shared_info);
	pv_target_close(pv->target);
	free(pv);
	r->pv = NULL;
}

void restore_pv_note(struct restore *r, const uint64_t *words, size_t n)
{
	pv_target_note(r->pv->target, words, n);
}

static int refuse(struct restore *r, const struct xf_record *rec, const char *what)
{
	return xf_error_set(r->err, -EPROTO, "Record %" PRIu64 " at byte %" PRIu64 ": %s; %s.", rec->number,
			    rec->offset, what, XF_ADVICE_DAMAGED);
}

int restore_pv_info(struct restore *r, const struct xf_record *rec)
{
	struct xf_pv_info info;

	if (r->pv->info_seen)
		return refuse(r, rec, "found X86_PV_INFO a second time, expected it once");
	if (xf_reader_body(r->reader, &info, sizeof(info)))
		return restore_unreadable(r);
	r->pv->info_seen = true;
	if (info.guest_width == 8)
		return 0;
	return xf_error_set(r->err, -EOPNOTSUPP, "The stream holds a PV guest of %u bits, expected 64; restore it"
			    " with Xen's own engine (XENFERRY_ENGINE=stock) if this Xen runs such guests.",
			    info.guest_width * 8);
}

/* ---- where the P2M lies ------------------------------------------------- */

static int room_for(struct restore_pv *pv, size_t pages)
{
	uint64_t *more;

	if (pages <= pv->p2m_pages)
		return 0;
	more = reallocarray(pv->p2m, pages, sizeof(*more));
	if (!more)
		return -ENOMEM;
	for (size_t i = pv->p2m_pages; i < pages; i++)
		more[i] = PV_NO_FRAME;
	pv->p2m = more;
	pv->p2m_pages = pages;
	return 0;
}

/* The pfns it has entries for; what lies above the limit can't have memory, whatever the P2M has room for. */
static int cover(struct restore *r, uint64_t pfns)
{
	uint64_t limit = r->pages->limit;
	int rc = pv_target_cover(r->pv->target, pfns < limit ? pfns : limit);

	if (!rc)
		rc = xf_reader_set_pfn_limit(r->reader, r->pv->target->frames.pfns);
	return rc;
}

int restore_pv_p2m(struct restore *r, const struct xf_record *rec)
{
	struct restore_pv *pv = r->pv;
	struct guest_blob body = { NULL, 0 };
	struct xf_pv_p2m_frames head;
	uint64_t first, pages;
	int rc = restore_static_data_over(r, rec);

	if (!rc)
		rc = restore_keep(r, rec, &body);
	if (rc)
		return rc;
	memcpy(&head, body.data, sizeof(head));
	first = head.start_pfn / PV_ENTRIES;
	pages = head.end_pfn / PV_ENTRIES + 1;
	/* The stream's rules let a 32-bit guest's count pass as well. */
	if (body.size != sizeof(head) + (pages - first) * sizeof(*pv->p2m))
		rc = refuse(r, rec, "found the P2M of a 32-bit guest, expected 512 entries a page");
	if (!rc && (room_for(pv, pages) || cover(r, (uint64_t)head.end_pfn + 1)))
		rc = failure(r->err, -ENOMEM, r->guest, "Keeping the P2M");
	if (!rc)
		memcpy(pv->p2m + first, (char *)body.data + sizeof(head), body.size - sizeof(head));
	if (head.end_pfn >= pv->pfns)
		pv->pfns = (uint64_t)head.end_pfn + 1;
	guest_blob_free(&body);
	return rc;
}

int restore_pv_shared_info(struct restore *r, const struct xf_record *rec)
{
	if (r->pv->shared_info.size)
		return refuse(r, rec, "found SHARED_INFO a second time, expected it once");
	return restore_keep(r, rec, &r->pv->shared_info);
}

/* ---- vCPUs -------------------------------------------------------------- */

/* Bytes of what Xen takes, and of what it consists. */
static const struct {
	uint32_t record;
	size_t min, max, unit;
} parts[GUEST_VCPU_PARTS] = {
	[GUEST_VCPU_BASIC]    = { XF_REC_X86_PV_VCPU_BASIC, sizeof(vcpu_guest_context_t),
				  sizeof(vcpu_guest_context_t), 1 },
	[GUEST_VCPU_EXTENDED] = { XF_REC_X86_PV_VCPU_EXTENDED, 8, 128, 1 },
	[GUEST_VCPU_XSAVE]    = { XF_REC_X86_PV_VCPU_XSAVE, 16, XF_BODY_MAX, 1 },
	[GUEST_VCPU_MSRS]     = { XF_REC_X86_PV_VCPU_MSRS, XF_PV_VCPU_MSR_SIZE, XF_BODY_MAX, XF_PV_VCPU_MSR_SIZE },
};

static int part_of(uint32_t record)
{
	int part = 0;

	while (parts[part].record != record)
		part++;
	return part;
}

static int keep_part(struct restore *r, const struct xf_record *rec, const struct guest_blob *body)
{
	size_t size = body->size - sizeof(struct xf_pv_vcpu);
	int part = part_of(rec->type);
	struct xf_pv_vcpu head;
	struct guest_blob *into;
	char what[160];

	memcpy(&head, body->data, sizeof(head));
	if (!size)
		return 0;	/* old senders wrote such */
	if (head.vcpu_id >= r->pv->target->info.vcpus) {
		snprintf(what, sizeof(what), "found state of vCPU %u, expected ids below %u as the domain has"
			 " them", head.vcpu_id, r->pv->target->info.vcpus);
		return refuse(r, rec, what);
	}
	if (size < parts[part].min || size > parts[part].max || size % parts[part].unit) {
		snprintf(what, sizeof(what), "found %zu bytes of state for vCPU %u, expected %zu to %zu", size,
			 head.vcpu_id, parts[part].min, parts[part].max);
		return refuse(r, rec, what);
	}
	into = &r->pv->vcpus[head.vcpu_id].parts[part];
	if (into->size) {
		snprintf(what, sizeof(what), "found state of vCPU %u a second time, expected it once",
			 head.vcpu_id);
		return refuse(r, rec, what);
	}
	into->data = malloc(size);
	if (!into->data)
		return failure(r->err, -ENOMEM, r->guest, "Keeping the state of a vCPU");
	memcpy(into->data, (char *)body->data + sizeof(head), size);
	into->size = size;
	return 0;
}

int restore_pv_vcpu(struct restore *r, const struct xf_record *rec)
{
	struct guest_blob body = { NULL, 0 };
	int rc = restore_keep(r, rec, &body);

	if (!rc)
		rc = keep_part(r, rec, &body);
	guest_blob_free(&body);
	return rc;
}
