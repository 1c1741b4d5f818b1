// SPDX-License-Identifier: LGPL-2.1-or-later
/* What programs do to address space that has frames mapped in it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "conform.h"

static int errors[2048];

static char *map16(int fd)
{
	char *p = area(fd, 16, PROT_READ);

	need(!batch(fd, p, 16, guest, stamped, errors), "map 16 frames");
	return p;
}

static void ends_well(int fd, char *p, unsigned long n)
{
	tell_pages("pages", p, stamped, n);
	tell("munmap", munmap(p, n * PAGE));
	tell_pages("afterwards", p, stamped, 1);
	close(fd);
}

void part_munmap(void)
{
	int fd = privcmd_open();
	char *p = map16(fd);

	tell("the middle", munmap(p + 5 * PAGE, PAGE));
	tell("the first", munmap(p, PAGE));
	tell("the last", munmap(p + 15 * PAGE, PAGE));
	ends_well(fd, p, 16);
}

void part_mprotect(void)
{
	int fd = privcmd_open();
	char *p = map16(fd);

	tell("the middle", mprotect(p + 5 * PAGE, PAGE, PROT_NONE));
	tell("the first half", mprotect(p, 8 * PAGE, PROT_READ | PROT_WRITE));
	tell("the same", mprotect(p + 2 * PAGE, PAGE, PROT_READ));
	ends_well(fd, p, 16);
}

void part_fixed(void)
{
	int fd = privcmd_open();
	char *p = map16(fd);
	void *q = mmap(p + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	tell("anonymous", q == MAP_FAILED ? -1 : 0);
	q = mmap(p + 4 * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	tell("another area", q == MAP_FAILED ? -1 : 0);
	ends_well(fd, p, 16);
}

static long remap(void *old, unsigned long from, unsigned long to, int flags, void *where)
{
	return mremap(old, from * PAGE, to * PAGE, flags, where) == MAP_FAILED ? -1 : 0;
}

void part_mremap(void)
{
	int fd = privcmd_open();
	char *p = map16(fd), *q = room(32);

	tell("shrink", remap(p, 16, 8, 0, NULL));
	tell("shrink and move", remap(p, 16, 8, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	tell("move a part", remap(p, 8, 8, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	tell("move the end", remap(p + 8 * PAGE, 8, 8, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	ends_well(fd, p, 16);
}

void move_refused(void)
{
	int fd = privcmd_open();
	char *p = map16(fd), *q = room(32);

	tell("grow", remap(p, 16, 17, 0, NULL));
	tell("grow and move", remap(p, 16, 17, MREMAP_MAYMOVE, NULL));
	tell("nothing to do", remap(p, 16, 16, 0, NULL));
	tell("move and leave", remap(p, 16, 16, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL));
	tell("duplicate", remap(p, 0, 16, MREMAP_MAYMOVE, NULL));
	tell("onto itself", remap(p, 16, 16, MREMAP_MAYMOVE | MREMAP_FIXED, p + PAGE));
	tell("unaligned", mremap(p, 16 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + 1) == MAP_FAILED ? -1 : 0);
	ends_well(fd, p, 16);
}

/* An area in which nothing is mapped yet: moved, then used. */
void move_empty(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 16, PROT_READ), *q = room(32);

	tell("move", remap(p, 16, 16, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	tell("map at the old place", batch(fd, p, 16, guest, stamped, errors));
	tell("map", batch(fd, q, 16, guest, stamped, errors));
	ends_well(fd, q, 16);
}

/* There and back; then a hole in it is filled and all is unmapped. */
void move_small(void)
{
	uint64_t frames[16];
	int fd = privcmd_open();
	char *p = area(fd, 16, PROT_READ), *q = room(32) + 77 * PAGE;

	memcpy(frames, stamped, sizeof(frames));
	frames[0] = frames[9] = 0xfffff;
	tell("map", batch(fd, p, 16, guest, frames, errors));
	tell("move", remap(p, 16, 16, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	tell_pages("the old place", p, stamped, 16);
	tell_pages("the new place", q + PAGE, stamped + 1, 8);
	tell_pages("the new place", q + 10 * PAGE, stamped + 10, 6);
	tell("populated", batch(fd, q, 2, guest, stamped, errors));
	tell("move back", remap(q, 16, 16, MREMAP_MAYMOVE | MREMAP_FIXED, p));
	tell_pages("the old place", p + PAGE, stamped + 1, 8);
	tell_pages("the new place", q, stamped, 1);
	tell("munmap", munmap(p, 16 * PAGE));
	close(fd);
}

/* Whole page-table pages change place. */
void move_large(void)
{
	int fd = privcmd_open();
	char *p = area_at(fd, room(4096), 1536, PROT_READ), *q = room(4096);

	tell("map", batch(fd, p, 1536, guest, stamped, errors));
	tell("move", remap(p, 1536, 1536, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	tell_pages("the new place", q, stamped, 1536);
	tell_pages("the old place", p, stamped, 1);
	q = mremap(q, 1536 * PAGE, 1536 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 3 * PAGE);
	tell("move elsewhere", q == MAP_FAILED ? -1 : 0);
	tell_pages("the new place", q, stamped, 1536);
	tell("munmap", munmap(q, 1536 * PAGE));
	close(fd);
}

/* Frames of two owners in one area: the guest's, and the display's memory. */
void move_mixed(void)
{
	uint64_t frames[4] = { stamped[0], 0xfffff, 0xfffff, stamped[3] };
	int fd = privcmd_open();
	char *p = area(fd, 4, PROT_READ), *q = room(4) + 9 * PAGE;
	uint64_t value, before = 0, after = 1;

	batch(fd, p, 4, guest, frames, errors);
	tell("fill", batch(fd, p + PAGE, 1, DOMID_IO, &(uint64_t){ 0xb8 }, errors));
	tell_errors("errors", errors, 1);
	peek(p + PAGE, &before);
	tell("move", remap(p, 4, 4, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	tell_pages("the guest's", q, stamped, 1);
	tell_pages("the guest's", q + 3 * PAGE, stamped + 3, 1);
	say("signal at the display's: %d", peek(q + PAGE, &after));
	say("the same content: %d", before == after);
	say("signal at the hole: %d", peek(q + 2 * PAGE, &value));
	tell("munmap", munmap(q, 4 * PAGE));
	close(fd);
}

void fixed_over(void)
{
	int fd = privcmd_open();
	char *p = map16(fd), *q = room(64), *r;
	uint64_t value = 1;

	r = mmap(p, 16 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tell("anonymous over it", r == p ? 0 : -1);
	say("signal: %d", peek(p, &value));
	say("content: %lu", (unsigned long)value);
	munmap(p, 16 * PAGE);

	p = area_at(fd, q + 8 * PAGE, 16, PROT_READ);
	tell("map", batch(fd, p, 16, guest, stamped, errors));
	r = mmap(q, 40 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	tell("a larger area over it", r == q ? 0 : -1);
	tell("map", batch(fd, r, 40, guest, stamped, errors));
	ends_well(fd, r, 40);
}

/* Two areas side by side, unmapped in one call; or not, if that would split one. */
void unmap_two(void)
{
	int fd = privcmd_open();
	char *q = room(64), *p = area_at(fd, q, 8, PROT_READ);
	char *r = area_at(fd, q + 8 * PAGE, 8, PROT_READ);

	tell("map", batch(fd, p, 8, guest, stamped, errors));
	tell("map", batch(fd, r, 8, guest, stamped + 8, errors));
	tell("over both", batch(fd, p, 16, guest, stamped, errors));
	tell("one and a half", munmap(p, 12 * PAGE));
	tell("half and one", munmap(p + 4 * PAGE, 12 * PAGE));
	ends_well(fd, p, 16);
}

void advise(void)
{
	int fd = privcmd_open();
	char *p = map16(fd);

	tell("DONTNEED", madvise(p, 16 * PAGE, MADV_DONTNEED));
	tell("DOFORK", madvise(p, 16 * PAGE, MADV_DOFORK));
	tell("DONTFORK", madvise(p, 16 * PAGE, MADV_DONTFORK));
	tell("part DONTFORK", madvise(p, PAGE, MADV_DONTFORK));
	tell("part SEQUENTIAL", madvise(p, PAGE, MADV_SEQUENTIAL));
	tell("COLD", madvise(p, 16 * PAGE, MADV_COLD));
	tell("PAGEOUT", madvise(p, 16 * PAGE, MADV_PAGEOUT));
	tell("mlock", mlock(p, 16 * PAGE));
	tell("part mlock", mlock(p + PAGE, PAGE));
	tell("msync", msync(p, 16 * PAGE, MS_SYNC));
	ends_well(fd, p, 16);
}

void protect_whole(void)
{
	int fd = privcmd_open();
	char *p = map16(fd);
	uint64_t value;

	tell("the same", mprotect(p, 16 * PAGE, PROT_READ));
	tell_pages("pages", p, stamped, 16);
	tell("writable", mprotect(p, 16 * PAGE, PROT_READ | PROT_WRITE));
	tell_pages("pages", p, stamped, 16);
	say("signal at writing: %d", poke(p + 512, 7));
	tell("none", mprotect(p, 16 * PAGE, PROT_NONE));
	say("signal at reading: %d", peek(p, &value));
	tell("read-only", mprotect(p, 16 * PAGE, PROT_READ));
	say("signal at writing: %d", poke(p + 512, 7));
	ends_well(fd, p, 16);
}
