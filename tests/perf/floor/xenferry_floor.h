/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/xenferry-floor: what mapping costs if nothing is done but the
 * hypercalls. For the benchmark only: the module xenferry-floor is never
 * installed.
 *
 * A call makes one round on a mapping of its own (nothing of it remains), with
 * everything prepared before the clock (rdtsc) starts: PV: one mmu_update with
 * num entries that maps the frames, one that puts the others over them, one
 * that clears, one flush. PVH: one XENMEM_add_to_physmap_range, then
 * XENMEM_remove_from_physmap of each page, singly; the same again, removed by
 * multicall.
 *
 * Errors: EINVAL (num, or a reserved field), EFAULT, ENOMEM, ENODEV (not a
 * Xen Dom0), EINTR; EIO where the hypervisor refused all frames.
 */
#ifndef XENFERRY_FLOOR_H
#define XENFERRY_FLOOR_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XENFERRY_FLOOR_DEVICE "/dev/xenferry-floor"
#define XENFERRY_FLOOR_MAX 65535U

#define XENFERRY_FLOOR_PV 1U
#define XENFERRY_FLOOR_PVH 2U

struct xenferry_floor {
	__u64 frames;		/* in: user pointer to __u64[num], frame numbers as in MMAPBATCH_V2 */
	__u64 others;		/* in: the same, those that replace them; 0: replacing isn't measured */
	__u32 num;		/* in: 1 to XENFERRY_FLOOR_MAX */
	__u32 domid;		/* in: whose frames they are */
	__u32 reserved;		/* in: 0 */
	__u32 dom0;		/* out: XENFERRY_FLOOR_PV or _PVH, which the figures below depend on */
	__u32 failed;		/* out: frames (of either array) that could not be mapped: 0, or the figures are worthless */
	__u32 entered;		/* out: times the mapping call was entered: 1, and more where a frame failed */

	/* out, all in ticks of rdtsc; 0: doesn't exist in this Dom0, or was not asked for */
	__u64 map;		/* PV, PVH: all frames in one call */
	__u64 replace;		/* PV: all others over them, one call. PVH: removed singly, then the others added in one call */
	__u64 unmap;		/* PV: all entries cleared, one call. PVH: all pages removed, a call each */
	__u64 unmap_multicall;	/* PVH: all pages removed by multicalls of up to 512 */
	__u64 flush;		/* PV: the TLB flush that is due after replace and unmap, not included in them */
	__u64 clock;		/* what reading the clock twice takes, included in each figure */
	__u64 reserved_out[4];	/* out: 0 */
};

#define IOCTL_XENFERRY_FLOOR _IOWR('P', 0xf0, struct xenferry_floor)

#endif
