/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "os_privcmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <xen/xen.h>
#include <xen/sys/privcmd.h>
#include <xen/xenferry_privcmd.h>

#define DEVICE "/dev/xen/privcmd"

_Static_assert(sizeof(struct xenferry_query) == 48, "ABI of IOCTL_XENFERRY_QUERY");
_Static_assert(sizeof(struct xenferry_map) == 56, "ABI of IOCTL_XENFERRY_MAP");
_Static_assert(sizeof(struct xenferry_clear) == 32, "ABI of IOCTL_XENFERRY_CLEAR");
_Static_assert(sizeof(struct xenferry_counters) == 128, "ABI of IOCTL_XENFERRY_COUNTERS");
_Static_assert(sizeof(xen_pfn_t) == sizeof(uint64_t), "frame arrays are handed over as they are");
_Static_assert(sizeof(int) == sizeof(__s32), "error arrays are handed over as they are");

static size_t bytes_of(size_t pages)
{
	return pages << XCBATCH_PAGE_SHIFT;
}

static int mmap_prot(int prot)
{
	return prot & XCBATCH_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
}

/* Which driver answers? Only ENOTTY says "stock"; any other error is one. */
static int probe_driver(struct os_privcmd *os)
{
	const unsigned needed = XENFERRY_FEATURE_REPLACE | XENFERRY_FEATURE_CLEAR;
	struct xenferry_query query = { 0 };

	if (ioctl(os->fd, IOCTL_XENFERRY_QUERY, &query) < 0)
		return errno == ENOTTY ? 0 : -errno;
	memcpy(os->version, query.version, sizeof(os->version));
	os->version[sizeof(os->version) - 1] = '\0';
	/* A driver with another ABI still does all that the stock one does. */
	if (query.abi != XENFERRY_PRIVCMD_ABI)
		return 0;
	os->features = query.features;
	os->max_frames = query.max_frames;
	os->batched = (query.features & needed) == needed && query.max_frames > 0;
	return 0;
}

int os_privcmd_open(struct os_privcmd *os)
{
	int rc;

	memset(os, 0, sizeof(*os));
	os->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (os->fd < 0)
		return -errno;
	rc = probe_driver(os);
	if (rc < 0)
		os_privcmd_close(os);
	return rc;
}

void os_privcmd_close(struct os_privcmd *os)
{
	close(os->fd);
	os->fd = -1;
}

int os_privcmd_counters(const struct os_privcmd *os, struct xcbatch_counters *out)
{
	struct xenferry_counters counters;

	memset(&counters, 0, sizeof(counters));
	if (ioctl(os->fd, IOCTL_XENFERRY_COUNTERS, &counters) < 0)
		return -errno;
	out->map_hypercalls = counters.map_hypercalls;
	out->map_entries = counters.map_entries;
	out->clear_hypercalls = counters.clear_hypercalls;
	out->clear_entries = counters.clear_entries;
	out->flushes = counters.flushes;
	out->failed_entries = counters.failed_entries;
	return 0;
}

static int reserve(void *addr, size_t pages, int flags, void **out)
{
	void *got = mmap(addr, bytes_of(pages), PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	if (got == MAP_FAILED)
		return -errno;
	*out = got;
	return 0;
}

int os_privcmd_reserve(size_t pages, void **out)
{
	return reserve(NULL, pages, 0, out);
}

int os_privcmd_reserve_at(void *addr, size_t pages)
{
	void *got;

	return reserve(addr, pages, MAP_FIXED, &got);
}

int os_privcmd_reserve_hole(void *addr, size_t pages)
{
	void *got;

	return reserve(addr, pages, MAP_FIXED_NOREPLACE, &got);
}

void os_privcmd_release(void *addr, size_t pages)
{
	munmap(addr, bytes_of(pages));
}

int os_privcmd_device(const struct os_privcmd *os, size_t pages, int prot, void **out)
{
	void *got = mmap(NULL, bytes_of(pages), mmap_prot(prot), MAP_SHARED, os->fd, 0);

	if (got == MAP_FAILED)
		return -errno;
	*out = got;
	return 0;
}

int os_privcmd_device_at(const struct os_privcmd *os, void *addr, size_t pages, int prot)
{
	void *got = mmap(addr, bytes_of(pages), mmap_prot(prot), MAP_SHARED | MAP_FIXED,
			 os->fd, 0);

	return got == MAP_FAILED ? -errno : 0;
}

static int map_stock(const struct os_privcmd *os, uint32_t domid, void *addr,
		     const uint64_t *gfns, size_t n, int *errs)
{
	privcmd_mmapbatch_v2_t call = {
		.num = (unsigned int)n,
		.dom = (domid_t)domid,
		.addr = (uintptr_t)addr,
		.arr = (const xen_pfn_t *)gfns,
		.err = errs,
	};

	/* ENOENT is no failure of the call: errs says which frames are paged out. */
	if (ioctl(os->fd, IOCTL_PRIVCMD_MMAPBATCH_V2, &call) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

static int map_batched(const struct os_privcmd *os, uint32_t domid, void *addr,
		       const uint64_t *gfns, size_t n, int *errs)
{
	size_t done, batch;

	for (done = 0; done < n; done += batch) {
		batch = n - done < os->max_frames ? n - done : os->max_frames;
		struct xenferry_map call = {
			.addr = (uintptr_t)addr + bytes_of(done),
			.frames = (uintptr_t)(gfns + done),
			.errors = (uintptr_t)(errs + done),
			.num = (__u32)batch,
			.domid = domid,
		};

		if (ioctl(os->fd, IOCTL_XENFERRY_MAP, &call) < 0)
			return -errno;
	}
	return 0;
}

int os_privcmd_map(const struct os_privcmd *os, uint32_t domid, void *addr,
		   const uint64_t *gfns, size_t n, int *errs)
{
	return os->batched ? map_batched(os, domid, addr, gfns, n, errs)
			   : map_stock(os, domid, addr, gfns, n, errs);
}

int os_privcmd_clear(const struct os_privcmd *os, void *addr, size_t n)
{
	size_t done, batch;

	for (done = 0; done < n; done += batch) {
		batch = n - done < os->max_frames ? n - done : os->max_frames;
		struct xenferry_clear call = {
			.addr = (uintptr_t)addr + bytes_of(done),
			.num = (__u32)batch,
		};

		if (ioctl(os->fd, IOCTL_XENFERRY_CLEAR, &call) < 0)
			return -errno;
	}
	return 0;
}

void os_privcmd_pause(unsigned microseconds)
{
	struct timespec left = {
		.tv_sec = microseconds / 1000000,
		.tv_nsec = (long)(microseconds % 1000000) * 1000,
	};

	/* A signal may end the pause early: the try after it is one more, no harm. */
	nanosleep(&left, NULL);
}
