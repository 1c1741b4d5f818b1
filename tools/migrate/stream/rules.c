/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/rules.h"
#include "stream/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BIT(type) (UINT32_C(1) << (type))

/* Invariant of the guest's running; a version 3 stream has them first. */
#define STATIC_RECORDS (BIT(XF_REC_X86_PV_INFO) | BIT(XF_REC_X86_CPUID_POLICY) | \
			BIT(XF_REC_X86_MSR_POLICY))
/* Memory and registers: not before the static data is complete. */
#define STATE_RECORDS  (BIT(XF_REC_PAGE_DATA) | BIT(XF_REC_X86_PV_P2M_FRAMES) |		\
			BIT(XF_REC_X86_PV_VCPU_BASIC) | BIT(XF_REC_X86_PV_VCPU_EXTENDED) | \
			BIT(XF_REC_X86_PV_VCPU_XSAVE) | BIT(XF_REC_X86_PV_VCPU_MSRS) |	\
			BIT(XF_REC_SHARED_INFO) | BIT(XF_REC_X86_TSC_INFO) |		\
			BIT(XF_REC_HVM_CONTEXT) | BIT(XF_REC_HVM_PARAMS) |		\
			BIT(XF_REC_VERIFY) | BIT(XF_REC_CHECKPOINT) | BIT(XF_REC_END))
#define PV_RECORDS     (BIT(XF_REC_X86_PV_INFO) | BIT(XF_REC_X86_PV_P2M_FRAMES) |	\
			BIT(XF_REC_X86_PV_VCPU_BASIC) | BIT(XF_REC_X86_PV_VCPU_EXTENDED) | \
			BIT(XF_REC_X86_PV_VCPU_XSAVE) | BIT(XF_REC_X86_PV_VCPU_MSRS) |	\
			BIT(XF_REC_SHARED_INFO))
#define HVM_RECORDS    (BIT(XF_REC_HVM_CONTEXT) | BIT(XF_REC_HVM_PARAMS))
#define V3_RECORDS     (BIT(XF_REC_STATIC_DATA_END) | BIT(XF_REC_X86_CPUID_POLICY) |	\
			BIT(XF_REC_X86_MSR_POLICY))
#define ONCE_RECORDS   (BIT(XF_REC_STATIC_DATA_END) | BIT(XF_REC_VERIFY))

void xf_rules_init(struct xf_rules *r, enum xf_stream_kind kind, uint32_t version, uint32_t guest)
{
	*r = (struct xf_rules){ .kind = kind, .version = version, .guest = guest };
}

int xf_rules_refuse(const struct xf_rules *r, uint32_t type, struct xf_error *e,
		    const char *fmt, ...)
{
	char what[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return xf_error_set(e, -EPROTO, "Record %" PRIu64 " (%s) at byte %" PRIu64 ": %s; %s.",
			    r->record, xf_record_name(type), r->offset, what, XF_ADVICE_DAMAGED);
}

static int check_length(const struct xf_rules *r, uint32_t type, uint32_t length,
			struct xf_error *e)
{
	const struct xf_record_kind *k = xf_record_kind(type);

	if (length > XF_RECORD_LENGTH_MAX)
		return xf_rules_refuse(r, type, e, "found a length of %u bytes, expected at most %u",
				       length, XF_RECORD_LENGTH_MAX);
	if (!k)
		return 0;
	if (k->min == k->max && length != k->min)
		return xf_rules_refuse(r, type, e, "found a length of %u bytes, expected %u",
				       length, k->min);
	if (length < k->min)
		return xf_rules_refuse(r, type, e, "found a length of %u bytes, expected at least %u",
				       length, k->min);
	if (length > k->max)
		return xf_rules_refuse(r, type, e, "found a length of %u bytes, expected at most %u",
				       length, k->max);
	if ((length - k->min) % k->unit)
		return xf_rules_refuse(r, type, e,
				       "found a length of %u bytes, expected %u and a multiple of %u",
				       length, k->min, k->unit);
	return 0;
}

/* What this kind of stream may hold at all. */
static int check_kind(const struct xf_rules *r, uint32_t type, struct xf_error *e)
{
	uint32_t bit = BIT(type);

	if (bit & (r->guest == XF_GUEST_X86_PV ? HVM_RECORDS : PV_RECORDS))
		return xf_rules_refuse(r, type, e, "found it in the stream of an %s guest, expected"
				       " it only for an %s guest", xf_guest_name(r->guest),
				       xf_guest_name(bit & PV_RECORDS ? XF_GUEST_X86_PV :
						     XF_GUEST_X86_HVM));
	if ((bit & V3_RECORDS) && r->version < 3)
		return xf_rules_refuse(r, type, e, "found it in a stream of version %u, expected it"
				       " only from version 3 on", r->version);
	if (type == XF_REC_CHECKPOINT && r->kind == XF_STREAM_PLAIN)
		return xf_rules_refuse(r, type, e, "found a checkpoint in a plain stream, expected"
				       " them only in Remus and COLO streams");
	if (type == XF_REC_CHECKPOINT_DIRTY_PFN_LIST)
		return xf_rules_refuse(r, type, e, "found it on the way to the receiver, expected it"
				       " only on the way back of a COLO stream");
	if (type == XF_REC_TOOLSTACK)
		return xf_rules_refuse(r, type, e, "found a record that no release of Xen writes,"
				       " expected a toolstack's data in the stream around this one");
	return 0;
}

static int need(const struct xf_rules *r, uint32_t type, uint32_t first, struct xf_error *e)
{
	if (r->seen & BIT(first))
		return 0;
	return xf_rules_refuse(r, type, e, "found it before any %s, expected %s first",
			       xf_record_name(first), xf_record_name(first));
}

/* What has to have passed before. */
static int check_order(const struct xf_rules *r, uint32_t type, struct xf_error *e)
{
	uint32_t bit = BIT(type);

	if (r->seen & bit & ONCE_RECORDS)
		return xf_rules_refuse(r, type, e, "found it a second time, expected it once");
	if ((bit & STATE_RECORDS) && r->version >= 3 && need(r, type, XF_REC_STATIC_DATA_END, e))
		return -EPROTO;
	if ((bit & STATIC_RECORDS) && (r->seen & BIT(XF_REC_STATIC_DATA_END)))
		return xf_rules_refuse(r, type, e, "found it after STATIC_DATA_END, expected it before");
	if (r->guest == XF_GUEST_X86_PV) {
		if ((bit & STATE_RECORDS) && need(r, type, XF_REC_X86_PV_INFO, e))
			return -EPROTO;
		if ((type == XF_REC_PAGE_DATA || type == XF_REC_END) &&
		    need(r, type, XF_REC_X86_PV_P2M_FRAMES, e))
			return -EPROTO;
	} else if (type == XF_REC_END) {
		return need(r, type, XF_REC_HVM_CONTEXT, e);
	}
	return 0;
}

int xf_rules_record(struct xf_rules *r, uint32_t type, uint32_t length, uint64_t offset,
		    struct xf_error *e)
{
	r->record++;
	r->offset = offset;
	if (r->seen & BIT(XF_REC_END))
		return xf_rules_refuse(r, type, e, "found a record after END, expected END to be the last");
	if (type >= XF_REC_KNOWN && !(type & XF_RECORD_OPTIONAL))
		return xf_rules_refuse(r, type, e, "found the mandatory type 0x%08x, expected one of"
				       " those known (0x0 to 0x%x) or an optional one", type,
				       XF_REC_KNOWN - 1);
	if (check_length(r, type, length, e))
		return -EPROTO;
	if (type & XF_RECORD_OPTIONAL)
		return XF_RECORD_SKIP;
	if (check_kind(r, type, e) || check_order(r, type, e))
		return -EPROTO;
	r->seen |= BIT(type);
	return XF_RECORD_TAKE;
}

/* ---- bodies ------------------------------------------------------------ */

static int check_hvm_params(const struct xf_rules *r, const void *body, size_t length,
			    struct xf_error *e)
{
	uint64_t entries = (length - sizeof(struct xf_hvm_params)) / sizeof(struct xf_hvm_param);
	struct xf_hvm_params p;

	memcpy(&p, body, sizeof(p));
	if (p.count == entries)
		return 0;
	return xf_rules_refuse(r, XF_REC_HVM_PARAMS, e, "found a count of %u parameters, expected"
			       " %" PRIu64 " as the length says", p.count, entries);
}

static int check_pv_info(const struct xf_rules *r, const void *body, struct xf_error *e)
{
	struct xf_pv_info i;

	memcpy(&i, body, sizeof(i));
	if ((i.guest_width == 4 && i.pt_levels == 3) || (i.guest_width == 8 && i.pt_levels == 4))
		return 0;
	return xf_rules_refuse(r, XF_REC_X86_PV_INFO, e, "found width %u with %u levels of page"
			       " tables, expected 4 with 3 or 8 with 4", i.guest_width, i.pt_levels);
}

static int check_p2m_frames(const struct xf_rules *r, const void *body, size_t length,
			    struct xf_error *e)
{
	uint64_t frames = (length - sizeof(struct xf_pv_p2m_frames)) / 8, least;
	struct xf_pv_p2m_frames p;

	memcpy(&p, body, sizeof(p));
	if (p.start_pfn > p.end_pfn)
		return xf_rules_refuse(r, XF_REC_X86_PV_P2M_FRAMES, e, "found pfns from 0x%x to 0x%x,"
				       " expected the first to be below the last",
				       p.start_pfn, p.end_pfn);
	/* 512 or 1024 entries a frame of the table: 64-bit or 32-bit guest. */
	least = p.end_pfn / 1024 - p.start_pfn / 1024 + 1;
	if (frames == least || frames == (uint64_t)(p.end_pfn / 512 - p.start_pfn / 512) + 1)
		return 0;
	return xf_rules_refuse(r, XF_REC_X86_PV_P2M_FRAMES, e, "found %" PRIu64 " frames for pfns"
			       " 0x%x to 0x%x, expected %u, or %" PRIu64 " for a 32-bit guest",
			       frames, p.start_pfn, p.end_pfn,
			       p.end_pfn / 512 - p.start_pfn / 512 + 1, least);
}

int xf_rules_body(const struct xf_rules *r, uint32_t type, const void *body, size_t length,
		  struct xf_error *e)
{
	switch (type) {
	case XF_REC_HVM_PARAMS:
		return check_hvm_params(r, body, length, e);
	case XF_REC_X86_PV_INFO:
		return check_pv_info(r, body, e);
	case XF_REC_X86_PV_P2M_FRAMES:
		return check_p2m_frames(r, body, length, e);
	default:
		return 0;
	}
}
