/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch_fake_kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>

#include <xen/xen.h>
#include <xen/sys/privcmd.h>
#include <xen/xenferry_privcmd.h>

#define FD   1000
#define PAGE 4096

enum kind { HOLE, RESERVED, DEVICE, TAKEN };

struct page {
	enum kind kind;
	int vma;
	bool covered;	/* stock: the first map call of its mapping was made */
	uint64_t gfn;
};

struct fake_kernel fake;
static struct page pages[FAKE_PAGES];
static char *arena;
static int last_vma;

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *addr, size_t len);
int __wrap_nanosleep(const struct timespec *req, struct timespec *rem);
pid_t __wrap_getpid(void);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__real_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);

static bool fails_now(int *countdown)
{
	if (*countdown == 0 || --*countdown > 0)
		return false;
	errno = fake.errno_of_failure;
	return true;
}

static size_t page_of(const void *addr)
{
	return (size_t)((const char *)addr - arena) / PAGE;
}

static void empty_page(size_t i)
{
	if (pages[i].gfn)
		mprotect(arena + i * PAGE, PAGE, PROT_NONE);
	pages[i].gfn = 0;
}

static void fill_page(size_t i, uint64_t gfn)
{
	if (!pages[i].gfn)
		mprotect(arena + i * PAGE, PAGE, PROT_READ | PROT_WRITE);
	pages[i].gfn = gfn;
	memcpy(arena + i * PAGE, &gfn, sizeof(gfn));
}

static void become(size_t first, size_t n, enum kind kind)
{
	last_vma++;
	for (size_t i = first; i < first + n; i++) {
		empty_page(i);
		pages[i].kind = kind;
		pages[i].vma = last_vma;
		pages[i].covered = false;
	}
}

void fake_reset(bool ours)
{
	if (!arena)
		arena = __real_mmap(NULL, FAKE_PAGES * PAGE, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	become(0, FAKE_PAGES, HOLE);
	memset(&fake, 0, sizeof(fake));
	fake.ours = ours;
	fake.abi = XENFERRY_PRIVCMD_ABI;
	fake.features = XENFERRY_FEATURE_REPLACE | XENFERRY_FEATURE_CLEAR;
	fake.max_frames = 16;
	fake.pid = 100;
	fake.pause_ns_least = 1000000000;
}

int64_t fake_holds(const void *addr)
{
	const struct page *p = &pages[page_of(addr)];

	if (p->kind == HOLE)
		return -1;
	return p->kind == TAKEN ? -2 : (int64_t)p->gfn;
}

size_t fake_pages_in_use(void)
{
	size_t used = 0;

	for (size_t i = 0; i < FAKE_PAGES; i++)
		used += pages[i].kind != HOLE;
	return used;
}

/* ---- files, processes, memory ------------------------------------------- */

int __wrap_open(const char *path, int flags, ...)
{
	(void)path, (void)flags;
	if (fails_now(&fake.fail_open))
		return -1;
	fake.open_files++;
	return FD;
}

int __wrap_close(int fd)
{
	fake.open_files -= fd == FD;
	return 0;
}

pid_t __wrap_getpid(void)
{
	return fake.pid;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_now(&fake.fail_alloc) ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return fails_now(&fake.fail_alloc) ? NULL : __real_malloc(size);
}

int __wrap_nanosleep(const struct timespec *req, struct timespec *rem)
{
	(void)rem;
	fake.pauses++;
	if (req->tv_sec == 0 && req->tv_nsec < fake.pause_ns_least)
		fake.pause_ns_least = req->tv_nsec;
	return 0;
}

/* ---- address space ------------------------------------------------------- */

static bool cuts_a_device_mapping(size_t first, size_t n)
{
	if (first > 0 && pages[first].kind == DEVICE && pages[first - 1].vma == pages[first].vma)
		return true;
	return first + n < FAKE_PAGES && pages[first + n].kind == DEVICE &&
	       pages[first + n - 1].vma == pages[first + n].vma;
}

static size_t find_holes(size_t n)
{
	size_t run = 0;

	/* Page 0 stays a hole, so that no address is the arena's very first. */
	for (size_t i = 1; i < FAKE_PAGES; i++) {
		run = pages[i].kind == HOLE ? run + 1 : 0;
		if (run == n)
			return i + 1 - n;
	}
	return FAKE_PAGES;
}

static bool all_holes(size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		if (pages[i].kind != HOLE)
			return false;
	return true;
}

static void *failed(int error)
{
	errno = error;
	return MAP_FAILED;
}

static void *failing_mmap(size_t first, size_t n, int flags)
{
	if ((flags & MAP_FIXED) && fake.mmap_leaves_hole)
		become(first, n, fake.hole_is_taken ? TAKEN : HOLE);
	return failed(fake.errno_of_failure);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	size_t n = len / PAGE, first;

	/* Neither ASan nor cmocka is served from here. */
	if (fd != FD && !(flags & MAP_NORESERVE))
		return __real_mmap(addr, len, prot, flags, fd, off);
	first = addr ? page_of(addr) : find_holes(n);
	if (fails_now(&fake.fail_mmap))
		return failing_mmap(first, n, flags);
	if (first + n > FAKE_PAGES)
		return failed(ENOMEM);
	if ((flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE && !all_holes(first, n))
		return failed(EEXIST);
	if (cuts_a_device_mapping(first, n)) {
		fake.cuts++;
		return failed(EINVAL);
	}
	become(first, n, fd == FD ? DEVICE : RESERVED);
	return arena + first * PAGE;
}

int __wrap_munmap(void *addr, size_t len)
{
	if (cuts_a_device_mapping(page_of(addr), len / PAGE))
		fake.cuts++;
	become(page_of(addr), len / PAGE, HOLE);
	return 0;
}

/* ---- the driver ----------------------------------------------------------- */

static bool range_of_device(uint64_t addr, size_t n, size_t *first)
{
	*first = page_of((void *)(uintptr_t)addr);
	if (addr % PAGE || *first + n > FAKE_PAGES)
		return false;
	for (size_t i = *first; i < *first + n; i++)
		if (pages[i].kind != DEVICE || pages[i].vma != pages[*first].vma)
			return false;
	return true;
}

static int map_one(size_t page, uint64_t gfn)
{
	if (gfn == fake.paged_gfn && fake.paged_tries) {
		fake.paged_tries--;
		return -ENOENT;
	}
	if (gfn >= FAKE_BAD_GFN)
		return -EINVAL;
	fill_page(page, gfn);
	return 0;
}

static int refuse(void)
{
	fake.bad_calls++;
	errno = EINVAL;
	return -1;
}

/* The first map call of a mapping covers it exactly; later ones find nothing mapped. */
static int stock_map(privcmd_mmapbatch_v2_t *m)
{
	bool paged = false;
	size_t first, n = m->num;

	if (m->dom != FAKE_DOMID || n == 0 || !range_of_device(m->addr, n, &first))
		return refuse();
	if (!pages[first].covered &&
	    (pages[first - 1].vma == pages[first].vma || pages[first + n].vma == pages[first].vma))
		return refuse();
	for (size_t i = 0; i < n; i++)
		if (pages[first + i].gfn)
			return refuse();
	for (size_t i = 0; i < n; i++) {
		m->err[i] = map_one(first + i, m->arr[i]);
		pages[first + i].covered = true;
		paged |= m->err[i] == -ENOENT;
	}
	errno = ENOENT;
	return paged ? -1 : 0;
}

static int our_map(struct xenferry_map *m)
{
	const uint64_t *frames = (const uint64_t *)(uintptr_t)m->frames;
	int32_t *errors = (int32_t *)(uintptr_t)m->errors;
	size_t first;

	if (m->domid != FAKE_DOMID || m->flags || m->failed || m->reserved[0] || m->reserved[1] ||
	    m->num == 0 || m->num > fake.max_frames || !range_of_device(m->addr, m->num, &first))
		return refuse();
	for (size_t i = 0; i < m->num; i++) {
		empty_page(first + i);
		errors[i] = map_one(first + i, frames[i]);
		m->failed += errors[i] != 0;
	}
	return 0;
}

static int our_clear(const struct xenferry_clear *c)
{
	size_t first;

	if (c->flags || c->reserved[0] || c->reserved[1] || c->num == 0 ||
	    c->num > fake.max_frames || !range_of_device(c->addr, c->num, &first))
		return refuse();
	for (size_t i = 0; i < c->num; i++)
		empty_page(first + i);
	return 0;
}

static int our_query(struct xenferry_query *q)
{
	if (q->reserved)
		return refuse();
	q->abi = fake.abi;
	q->features = fake.features;
	q->max_frames = fake.max_frames;
	/* No NUL: the library must not read on. */
	memset(q->version, 'v', sizeof(q->version));
	return 0;
}

static int our_counters(struct xenferry_counters *c)
{
	*c = (struct xenferry_counters){
		.map_hypercalls = 1, .map_entries = 2, .clear_hypercalls = 3,
		.clear_entries = 4, .flushes = 5, .failed_entries = 6,
	};
	return 0;
}

static void note(unsigned long request, uint64_t addr, size_t n)
{
	if (fake.calls < (int)(sizeof(fake.call) / sizeof(fake.call[0])))
		fake.call[fake.calls++] = (struct fake_call){ request, addr, n };
}

static int our_ioctl(unsigned long request, void *arg)
{
	switch (request) {
	case IOCTL_XENFERRY_QUERY:
		return our_query(arg);
	case IOCTL_XENFERRY_COUNTERS:
		return our_counters(arg);
	case IOCTL_XENFERRY_MAP:
		note(request, ((struct xenferry_map *)arg)->addr, ((struct xenferry_map *)arg)->num);
		return our_map(arg);
	case IOCTL_XENFERRY_CLEAR:
		note(request, ((struct xenferry_clear *)arg)->addr, ((struct xenferry_clear *)arg)->num);
		return our_clear(arg);
	}
	errno = ENOTTY;
	return -1;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd != FD) {
		errno = EBADF;
		return -1;
	}
	if (fails_now(&fake.fail_ioctl))
		return -1;
	if (request == IOCTL_PRIVCMD_MMAPBATCH_V2) {
		note(request, ((privcmd_mmapbatch_v2_t *)arg)->addr, ((privcmd_mmapbatch_v2_t *)arg)->num);
		return stock_map(arg);
	}
	if (fake.ours)
		return our_ioctl(request, arg);
	errno = ENOTTY;
	return -1;
}
