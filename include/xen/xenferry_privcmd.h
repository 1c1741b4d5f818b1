/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ioctls that xenferry's xen-privcmd adds to /dev/xen/privcmd.
 *
 * Contract
 * --------
 * - Every structure has fixed-width fields, carries user pointers as 64-bit
 *   integers, and has reserved fields that must be zero: a call with anything
 *   else in them, or with an unknown flag, fails with EINVAL before anything
 *   has been changed.
 * - A call returns 0 when it was carried out, else -1 with errno. Per-frame
 *   results go to an array of their own, one negative errno (or 0) a frame;
 *   the input array is never written.
 * - The numbers lie far above the stock ones (0 to 10 in Linux 6.12; 11 is
 *   used by a proposal), so a stock driver answers ENOTTY to all of them.
 * - A descriptor that IOCTL_PRIVCMD_RESTRICT tied to a domain maps that
 *   domain's frames only (EPERM for others), here as in the stock calls.
 * - Calls on one address space are serialised by the driver; threads may call
 *   at will. A mapping is not inherited by fork.
 *
 * Errors common to all: EFAULT (an array or structure can't be read or
 * written), EINVAL (see above; address not page-aligned, range not inside one
 * mapping of this device), ENOMEM, EPERM, EINTR (a fatal signal came).
 */
#ifndef XENFERRY_PRIVCMD_H
#define XENFERRY_PRIVCMD_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Raised when a structure or a meaning below changes. */
#define XENFERRY_PRIVCMD_ABI 1

/* features */
#define XENFERRY_FEATURE_REPLACE	(1U << 0) /* IOCTL_XENFERRY_MAP */
#define XENFERRY_FEATURE_CLEAR		(1U << 1) /* IOCTL_XENFERRY_CLEAR */
#define XENFERRY_FEATURE_BATCHED_UNMAP	(1U << 2) /* munmap clears in batches */
#define XENFERRY_FEATURE_AUTO_XLATED	(1U << 3) /* this Dom0 is auto-translated (PVH) */

struct xenferry_query {
	__u32 abi;		/* out: XENFERRY_PRIVCMD_ABI */
	__u32 features;		/* out: XENFERRY_FEATURE_* */
	__u32 max_frames;	/* out: most frames one MAP or CLEAR takes */
	__u32 reserved;		/* in: 0 */
	__u8  version[32];	/* out: module version, NUL-terminated */
};

/*
 * Maps num frames of a domain at addr, addr + PAGE_SIZE, ..., over whatever
 * was mapped there. The range must lie inside one mmap() of /dev/xen/privcmd,
 * with that mapping's protection. In a slot whose frame can't be mapped nothing is
 * mapped afterwards (an access raises SIGBUS) and its error is set;
 * the other frames are mapped all the same.
 */
struct xenferry_map {
	__u64 addr;		/* in: page-aligned user address */
	__u64 frames;		/* in: user pointer to __u64[num], frame numbers as in MMAPBATCH_V2 */
	__u64 errors;		/* in: user pointer to __s32[num], each is written: 0 or negative errno */
	__u32 num;		/* in: 1 to max_frames */
	__u32 domid;		/* in: the domain, 0 to 0x7ff3 (or DOMID_XEN, DOMID_IO as the stock calls take) */
	__u32 flags;		/* in: 0 */
	__u32 failed;		/* out: how many errors are not 0 */
	__u64 reserved[2];	/* in: 0 */
};

/*
 * Unmaps num pages from addr on; the address range stays reserved and can be
 * mapped again. Pages where nothing is mapped are no error.
 */
struct xenferry_clear {
	__u64 addr;		/* in: page-aligned user address */
	__u32 num;		/* in: 1 to max_frames */
	__u32 flags;		/* in: 0 */
	__u64 reserved[2];	/* in: 0 */
};

/*
 * What the module did since it was loaded, over all descriptors. Counters only
 * grow; a test takes the difference of two readings.
 */
struct xenferry_counters {
	__u64 map_hypercalls;	/* hypercalls made to map or replace */
	__u64 map_entries;	/* frames asked of them */
	__u64 clear_hypercalls;	/* hypercalls made to clear, flushes not included */
	__u64 clear_entries;	/* entries cleared by them: each is a trap avoided */
	__u64 flushes;		/* TLB flush operations asked of the hypervisor */
	__u64 failed_entries;	/* frames that could not be mapped */
	__u64 reserved[10];	/* out: 0 */
};

#define IOCTL_XENFERRY_QUERY \
	_IOC(_IOC_READ | _IOC_WRITE, 'P', 0xe0, sizeof(struct xenferry_query))
#define IOCTL_XENFERRY_MAP \
	_IOC(_IOC_READ | _IOC_WRITE, 'P', 0xe1, sizeof(struct xenferry_map))
#define IOCTL_XENFERRY_CLEAR \
	_IOC(_IOC_WRITE, 'P', 0xe2, sizeof(struct xenferry_clear))
#define IOCTL_XENFERRY_COUNTERS \
	_IOC(_IOC_READ, 'P', 0xe3, sizeof(struct xenferry_counters))

#endif
