/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/names.h"
#include "stream/limits.h"
#include "stream/wire.h"

#define EXACTLY(n)	   (n), (n), 1
#define FROM(n, unit)	   (n), XF_BODY_MAX, (unit)

static const struct xf_record_kind kinds[XF_REC_KNOWN] = {
	[XF_REC_END]		   = { "END", EXACTLY(0) },
	[XF_REC_PAGE_DATA]	   = { "PAGE_DATA", sizeof(struct xf_page_data) + 8,
				       XF_RECORD_LENGTH_MAX, 8 },
	[XF_REC_X86_PV_INFO]	   = { "X86_PV_INFO", EXACTLY(sizeof(struct xf_pv_info)) },
	[XF_REC_X86_PV_P2M_FRAMES] = { "X86_PV_P2M_FRAMES",
				       FROM(sizeof(struct xf_pv_p2m_frames) + 8, 8) },
	[XF_REC_X86_PV_VCPU_BASIC] = { "X86_PV_VCPU_BASIC",
				       FROM(sizeof(struct xf_pv_vcpu), 1) },
	[XF_REC_X86_PV_VCPU_EXTENDED] = { "X86_PV_VCPU_EXTENDED",
				       FROM(sizeof(struct xf_pv_vcpu), 1) },
	[XF_REC_X86_PV_VCPU_XSAVE] = { "X86_PV_VCPU_XSAVE",
				       FROM(sizeof(struct xf_pv_vcpu), 1) },
	[XF_REC_SHARED_INFO]	   = { "SHARED_INFO", EXACTLY(XF_PAGE_SIZE) },
	[XF_REC_X86_TSC_INFO]	   = { "X86_TSC_INFO", EXACTLY(sizeof(struct xf_tsc_info)) },
	[XF_REC_HVM_CONTEXT]	   = { "HVM_CONTEXT", FROM(1, 1) },
	[XF_REC_HVM_PARAMS]	   = { "HVM_PARAMS", FROM(sizeof(struct xf_hvm_params),
							 sizeof(struct xf_hvm_param)) },
	[XF_REC_TOOLSTACK]	   = { "TOOLSTACK", FROM(0, 1) },
	[XF_REC_X86_PV_VCPU_MSRS]  = { "X86_PV_VCPU_MSRS",
				       FROM(sizeof(struct xf_pv_vcpu), XF_PV_VCPU_MSR_SIZE) },
	[XF_REC_VERIFY]		   = { "VERIFY", EXACTLY(0) },
	[XF_REC_CHECKPOINT]	   = { "CHECKPOINT", EXACTLY(0) },
	[XF_REC_CHECKPOINT_DIRTY_PFN_LIST] = { "CHECKPOINT_DIRTY_PFN_LIST", FROM(0, 8) },
	[XF_REC_STATIC_DATA_END]   = { "STATIC_DATA_END", EXACTLY(0) },
	[XF_REC_X86_CPUID_POLICY]  = { "X86_CPUID_POLICY",
				       FROM(XF_CPUID_LEAF_SIZE, XF_CPUID_LEAF_SIZE) },
	[XF_REC_X86_MSR_POLICY]	   = { "X86_MSR_POLICY",
				       FROM(XF_MSR_ENTRY_SIZE, XF_MSR_ENTRY_SIZE) },
};

const struct xf_record_kind *xf_record_kind(uint32_t type)
{
	return type < XF_REC_KNOWN ? &kinds[type] : 0;
}

const char *xf_record_name(uint32_t type)
{
	if (type < XF_REC_KNOWN)
		return kinds[type].name;
	return type & XF_RECORD_OPTIONAL ? "unknown optional" : "unknown mandatory";
}

const char *xf_libxl_record_name(uint32_t type)
{
	static const char *const names[XF_LIBXL_KNOWN] = {
		[XF_LIBXL_END]		    = "END",
		[XF_LIBXL_LIBXC_CONTEXT]    = "LIBXC_CONTEXT",
		[XF_LIBXL_XENSTORE_DATA]    = "EMULATOR_XENSTORE_DATA",
		[XF_LIBXL_EMULATOR_CONTEXT] = "EMULATOR_CONTEXT",
		[XF_LIBXL_CHECKPOINT_END]   = "CHECKPOINT_END",
		[XF_LIBXL_CHECKPOINT_STATE] = "CHECKPOINT_STATE",
	};

	if (type < XF_LIBXL_KNOWN)
		return names[type];
	return type & XF_RECORD_OPTIONAL ? "unknown optional" : "unknown mandatory";
}

const char *xf_guest_name(uint32_t type)
{
	switch (type) {
	case XF_GUEST_X86_PV:
		return "x86 PV";
	case XF_GUEST_X86_HVM:
		return "x86 HVM";
	default:
		return "unknown";
	}
}

const char *xf_page_type_name(unsigned type)
{
	static const char *const names[XF_PAGE_TYPES] = {
		[XF_PAGE_NOTAB] = "NOTAB",
		[XF_PAGE_L1TAB] = "L1TAB",
		[XF_PAGE_L2TAB] = "L2TAB",
		[XF_PAGE_L3TAB] = "L3TAB",
		[XF_PAGE_L4TAB] = "L4TAB",
		[XF_PAGE_PINNED | XF_PAGE_L1TAB] = "L1TAB_PIN",
		[XF_PAGE_PINNED | XF_PAGE_L2TAB] = "L2TAB_PIN",
		[XF_PAGE_PINNED | XF_PAGE_L3TAB] = "L3TAB_PIN",
		[XF_PAGE_PINNED | XF_PAGE_L4TAB] = "L4TAB_PIN",
		[XF_PAGE_BROKEN] = "BROKEN",
		[XF_PAGE_XALLOC] = "XALLOC",
		[XF_PAGE_XTAB]	 = "XTAB",
	};

	return type < XF_PAGE_TYPES && names[type] ? names[type] : "reserved";
}
