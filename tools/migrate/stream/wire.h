/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of Xen's migration streams: the image libxenguest reads and
 * writes ("libxc stream", versions 2 and 3), the libxl stream around it, and
 * the header xl puts in front of a save file. The one source of these numbers.
 */
#ifndef XENFERRY_STREAM_WIRE_H
#define XENFERRY_STREAM_WIRE_H

#include <stdint.h>

#define XF_PAGE_SHIFT 12
#define XF_PAGE_SIZE  4096u

/* ---- libxc: headers ---------------------------------------------------- */

#define XF_IMAGE_MARKER     UINT64_C(0xffffffffffffffff)
#define XF_IMAGE_ID         UINT32_C(0x58454e46) /* "XENF" */
#define XF_IMAGE_BIG_ENDIAN 1u			 /* bit of options */
#define XF_VERSION_MIN      2u
#define XF_VERSION_MAX      3u

struct xf_image_header {	/* every field big-endian */
	uint64_t marker;
	uint32_t id;
	uint32_t version;
	uint16_t options;
	uint16_t reserved1;
	uint32_t reserved2;
};
_Static_assert(sizeof(struct xf_image_header) == 24, "image header");

#define XF_GUEST_X86_PV  1u
#define XF_GUEST_X86_HVM 2u	/* HVM and PVH */

struct xf_domain_header {	/* from here on: little-endian */
	uint32_t type;
	uint16_t page_shift;
	uint16_t reserved;
	uint32_t xen_major;	/* 0: converted from a legacy stream */
	uint32_t xen_minor;
};
_Static_assert(sizeof(struct xf_domain_header) == 16, "domain header");

/* ---- libxc: records ---------------------------------------------------- */

struct xf_record_header {
	uint32_t type;
	uint32_t length;	/* of the body, without padding */
};
_Static_assert(sizeof(struct xf_record_header) == 8, "record header");

#define XF_RECORD_ALIGN      8u
#define XF_RECORD_LENGTH_MAX (128u << 20)	/* what stock accepts, too */
#define XF_RECORD_OPTIONAL   UINT32_C(0x80000000)

static inline uint32_t xf_record_padding(uint32_t length)
{
	return -length & (XF_RECORD_ALIGN - 1);
}

enum xf_record_type {
	XF_REC_END			 = 0x00,
	XF_REC_PAGE_DATA		 = 0x01,
	XF_REC_X86_PV_INFO		 = 0x02,
	XF_REC_X86_PV_P2M_FRAMES	 = 0x03,
	XF_REC_X86_PV_VCPU_BASIC	 = 0x04,
	XF_REC_X86_PV_VCPU_EXTENDED	 = 0x05,
	XF_REC_X86_PV_VCPU_XSAVE	 = 0x06,
	XF_REC_SHARED_INFO		 = 0x07,
	XF_REC_X86_TSC_INFO		 = 0x08,
	XF_REC_HVM_CONTEXT		 = 0x09,
	XF_REC_HVM_PARAMS		 = 0x0a,
	XF_REC_TOOLSTACK		 = 0x0b,
	XF_REC_X86_PV_VCPU_MSRS		 = 0x0c,
	XF_REC_VERIFY			 = 0x0d,
	XF_REC_CHECKPOINT		 = 0x0e,
	XF_REC_CHECKPOINT_DIRTY_PFN_LIST = 0x0f,
	XF_REC_STATIC_DATA_END		 = 0x10,
	XF_REC_X86_CPUID_POLICY		 = 0x11,
	XF_REC_X86_MSR_POLICY		 = 0x12,
	XF_REC_KNOWN			 = 0x13	/* how many there are */
};

/* ---- libxc: record bodies ---------------------------------------------- */

struct xf_page_data {		/* then count words, then the pages with data */
	uint32_t count;
	uint32_t reserved;
};
_Static_assert(sizeof(struct xf_page_data) == 8, "PAGE_DATA");

/* A word of PAGE_DATA: type in bits 63-60, 59-52 reserved, pfn in 51-0. */
#define XF_PFN_MASK   UINT64_C(0x000fffffffffffff)
#define XF_TYPE_SHIFT 60

enum xf_page_type {
	XF_PAGE_NOTAB  = 0x0,
	XF_PAGE_L1TAB  = 0x1,
	XF_PAGE_L2TAB  = 0x2,
	XF_PAGE_L3TAB  = 0x3,
	XF_PAGE_L4TAB  = 0x4,
	XF_PAGE_PINNED = 0x8,	/* bit on top of L1TAB to L4TAB */
	XF_PAGE_BROKEN = 0xd,
	XF_PAGE_XALLOC = 0xe,
	XF_PAGE_XTAB   = 0xf,
	XF_PAGE_TYPES  = 0x10
};

static inline uint64_t xf_page_word(uint64_t pfn, enum xf_page_type type)
{
	return (pfn & XF_PFN_MASK) | ((uint64_t)type << XF_TYPE_SHIFT);
}

static inline uint64_t xf_word_pfn(uint64_t word)
{
	return word & XF_PFN_MASK;
}

static inline unsigned xf_word_type(uint64_t word)
{
	return (unsigned)(word >> XF_TYPE_SHIFT);
}

/* The four types in the middle are reserved. */
static inline int xf_page_type_known(unsigned type)
{
	return type <= XF_PAGE_L4TAB || (type > XF_PAGE_PINNED && type < XF_PAGE_TYPES);
}

/* A page of contents follows in the record for such a type. */
static inline int xf_page_type_has_data(unsigned type)
{
	return xf_page_type_known(type) && type < XF_PAGE_BROKEN;
}

/* The receiver needs memory behind the pfn for such a type. */
static inline int xf_page_type_populates(unsigned type)
{
	return xf_page_type_has_data(type) || type == XF_PAGE_XALLOC;
}

struct xf_pv_info {
	uint8_t guest_width;	/* 4 or 8 */
	uint8_t pt_levels;	/* 3 or 4 */
	uint8_t reserved[6];
};
_Static_assert(sizeof(struct xf_pv_info) == 8, "X86_PV_INFO");

struct xf_pv_p2m_frames {	/* then a 64-bit pfn for each frame of the table */
	uint32_t start_pfn;
	uint32_t end_pfn;	/* inclusive */
};
_Static_assert(sizeof(struct xf_pv_p2m_frames) == 8, "X86_PV_P2M_FRAMES");

struct xf_pv_vcpu {		/* then what the domctl gave */
	uint32_t vcpu_id;
	uint32_t reserved;
};
_Static_assert(sizeof(struct xf_pv_vcpu) == 8, "X86_PV_VCPU_*");

#define XF_PV_VCPU_MSR_SIZE 16u	/* one entry of X86_PV_VCPU_MSRS */

struct xf_tsc_info {
	uint32_t mode;
	uint32_t khz;
	uint64_t nsec;
	uint32_t incarnation;
	uint32_t reserved;
};
_Static_assert(sizeof(struct xf_tsc_info) == 24, "X86_TSC_INFO");

struct xf_hvm_params {		/* then count entries */
	uint32_t count;
	uint32_t reserved;
};
_Static_assert(sizeof(struct xf_hvm_params) == 8, "HVM_PARAMS");

struct xf_hvm_param {
	uint64_t index;
	uint64_t value;
};
_Static_assert(sizeof(struct xf_hvm_param) == 16, "HVM_PARAMS entry");

#define XF_CPUID_LEAF_SIZE 24u	/* xen_cpuid_leaf_t */
#define XF_MSR_ENTRY_SIZE  16u	/* xen_msr_entry_t */

/* ---- libxl: the stream around it --------------------------------------- */

#define XF_LIBXL_IDENT      UINT64_C(0x4c6962786c466d74) /* "LibxlFmt" */
#define XF_LIBXL_VERSION    2u
#define XF_LIBXL_BIG_ENDIAN 1u
#define XF_LIBXL_LEGACY     2u	/* made by the legacy conversion tool */

struct xf_libxl_header {	/* every field big-endian */
	uint64_t ident;
	uint32_t version;
	uint32_t options;
};
_Static_assert(sizeof(struct xf_libxl_header) == 16, "libxl header");

/* Records have the same header and alignment as libxc's. */
enum xf_libxl_record_type {
	XF_LIBXL_END		  = 0,
	XF_LIBXL_LIBXC_CONTEXT	  = 1,	/* a whole libxc stream follows */
	XF_LIBXL_XENSTORE_DATA	  = 2,
	XF_LIBXL_EMULATOR_CONTEXT = 3,
	XF_LIBXL_CHECKPOINT_END	  = 4,
	XF_LIBXL_CHECKPOINT_STATE = 5,
	XF_LIBXL_KNOWN		  = 6
};

struct xf_libxl_emulator {
	uint32_t id;		/* 0 unknown, 1 qemu-traditional, 2 qemu upstream */
	uint32_t index;
};
_Static_assert(sizeof(struct xf_libxl_emulator) == 8, "libxl emulator header");

#define XF_LIBXL_EMULATORS 3u

/* ---- xl: the head of a save file --------------------------------------- */

#define XF_SAVEFILE_MAGIC      "Xen saved domain, xl format\n \0 \r"
#define XF_SAVEFILE_BYTEORDER  UINT32_C(0x01020304)
#define XF_SAVEFILE_JSON       1u	/* mandatory flags: the configuration is JSON, */
#define XF_SAVEFILE_STREAM_V2  2u	/* a libxl stream follows (else a legacy one) */

struct xf_savefile_header {	/* in the byte order of the host that wrote it */
	char magic[32];
	uint32_t byteorder;
	uint32_t mandatory_flags;
	uint32_t optional_flags;
	uint32_t optional_data_len; /* a 32-bit length and the configuration */
};
_Static_assert(sizeof(struct xf_savefile_header) == 48, "save file header");
_Static_assert(sizeof(XF_SAVEFILE_MAGIC) == 33, "magic of 32 bytes");

#endif
