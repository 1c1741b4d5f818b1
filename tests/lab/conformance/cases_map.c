// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mapping: what is mapped where, and what is said of frames that can't be. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "conform.h"

static int errors[STAMPED * 2];

/* Maps n stamped frames and tells what came of it; the caller unmaps. */
static void map_and_tell(int fd, void *p, const uint64_t *frames, unsigned int n)
{
	memset(errors, 0x55, sizeof(errors));
	tell("map", batch(fd, p, n, guest, frames, errors));
	tell_errors("errors", errors, n + 1);
	tell_pages("pages", p, frames, n);
}

void map_whole(void)
{
	int fd = privcmd_open();
	void *p = area(fd, 16, PROT_READ);

	map_and_tell(fd, p, stamped, 16);
	tell("munmap", munmap(p, 16 * PAGE));
	tell_pages("afterwards", p, stamped, 2);
	close(fd);
}

void map_one(void)
{
	int fd = privcmd_open();
	unsigned int i, good = 0;

	for (i = 0; i < 100; i++) {
		void *p = area(fd, 1, PROT_READ);

		good += !batch(fd, p, 1, guest, &stamped[i], errors) && !errors[0] &&
			pages_show(p, &stamped[i], 1);
		munmap(p, PAGE);
	}
	say("%u of 100 good", good);
	close(fd);
}

void map_scattered(void)
{
	int fd = privcmd_open();
	void *p = area(fd, 1024, PROT_READ);

	map_and_tell(fd, p, stamped + 100, 1024);
	tell("munmap", munmap(p, 1024 * PAGE));
	close(fd);
}

/* Starts in the middle of a page-table page and ends in the middle of another. */
void map_across_tables(void)
{
	int fd = privcmd_open();
	char *p = area_at(fd, room(2048) + 300 * PAGE, 1000, PROT_READ);

	map_and_tell(fd, p, stamped + 7, 1000);
	tell("munmap", munmap(p, 1000 * PAGE));
	p = area_at(fd, room(2048) + 511 * PAGE, 2, PROT_READ);
	map_and_tell(fd, p, stamped + 7, 2);
	tell("munmap", munmap(p, 2 * PAGE));
	close(fd);
}

void map_v1(void)
{
	int fd = privcmd_open();
	void *p = area(fd, 40, PROT_READ);

	tell("map", batch_v1(fd, p, 40, guest, stamped));
	tell_pages("pages", p, stamped, 40);
	munmap(p, 40 * PAGE);
	close(fd);
}

void map_v1_errors(void)
{
	uint64_t frames[5] = { stamped[0], 0xfffff, stamped[1], 0xffffe, stamped[2] };
	int i, fd = privcmd_open();
	void *p = area(fd, 5, PROT_READ);

	tell("map", batch_v1(fd, p, 5, guest, frames));
	for (i = 0; i < 5; i++)
		say("mark %d: %#lx", i, frames[i] & 0xf0000000UL);
	for (i = 0; i < 5; i += 2)
		tell_pages("good page", (char *)p + i * PAGE, &stamped[i / 2], 1);
	munmap(p, 5 * PAGE);
	close(fd);
}

/* Frames 0xa0 to 0xff of a PVH guest are a hole. */
void map_holes(void)
{
	static const uint64_t frames[3] = { 0x9f, 0xa0, 0x100 };
	uint64_t value;
	int i, fd = privcmd_open();
	char *p = area(fd, 3, PROT_READ);

	memset(errors, 0x55, sizeof(errors));
	tell("map", batch(fd, p, 3, guest, frames, errors));
	tell_errors("errors", errors, 4);
	for (i = 0; i < 3; i++)
		say("signal at %#lx: %d", (unsigned long)frames[i],
		    peek(p + i * PAGE, &value));
	tell("munmap", munmap(p, 3 * PAGE));
	close(fd);
}

void map_retry_hole(void)
{
	uint64_t frames[600];
	int fd = privcmd_open();
	char *p = area(fd, 600, PROT_READ);

	memcpy(frames, stamped, sizeof(frames));
	frames[0] = frames[300] = frames[301] = frames[599] = 0xfffff;
	map_and_tell(fd, p, frames, 600);
	tell("fill an occupied slot", batch(fd, p + PAGE, 1, guest, stamped, errors));
	tell("fill over an occupied slot", batch(fd, p + 299 * PAGE, 2, guest, stamped, errors));
	tell("fill a hole and over an occupied slot", batch(fd, p + 301 * PAGE, 2, guest, stamped, errors));
	tell("fill a hole and over all others", batch(fd, p, 600, guest, stamped, errors));
	tell("fill a hole", batch(fd, p + 300 * PAGE, 2, guest, stamped + 300, errors));
	tell("fill the first", batch(fd, p, 1, guest, stamped, errors));
	tell("fill past the end", batch(fd, p + 599 * PAGE, 2, guest, stamped, errors));
	tell_pages("pages", p + 1 * PAGE, stamped + 1, 299);
	tell_pages("pages", p + 302 * PAGE, stamped + 302, 297);
	munmap(p, 600 * PAGE);
	close(fd);
}

void map_bad_everywhere(void)
{
	uint64_t frames[64];
	int i, fd = privcmd_open();
	void *p = area(fd, 64, PROT_READ);

	for (i = 0; i < 64; i++)
		frames[i] = i % 3 ? stamped[i] : 0xfffff + ((uint64_t)i << 20);
	memset(errors, 0x55, sizeof(errors));
	tell("map", batch(fd, p, 64, guest, frames, errors));
	tell_errors("errors", errors, 65);
	for (i = 1; i < 64; i += 3)
		if (!pages_show((char *)p + i * PAGE, frames + i, 2 - (i == 63)))
			say("pages from %d on are not right", i);
	tell("munmap", munmap(p, 64 * PAGE));
	close(fd);
}

void map_many(void)
{
	static uint64_t frames[STAMPED * 2];
	int fd = privcmd_open();
	void *p = area(fd, STAMPED * 2, PROT_READ);

	memcpy(frames, stamped, sizeof(stamped));
	memcpy(frames + STAMPED, stamped, sizeof(stamped));
	frames[2047] = frames[2048] = 0xfffff;
	memset(errors, 0x55, sizeof(errors));
	tell("map", batch(fd, p, STAMPED * 2, guest, frames, errors));
	tell_errors("errors", errors, STAMPED * 2);
	tell_pages("pages", p, frames, 2047);
	tell_pages("pages", (char *)p + 2049 * PAGE, frames + 2049, STAMPED * 2 - 2049);
	tell("munmap", munmap(p, STAMPED * 2 * PAGE));
	close(fd);
}

void map_own(void)
{
	static const uint64_t frames[2] = { 1, 2 };
	int fd = privcmd_open();
	void *p = area(fd, 2, PROT_READ);

	tell("map", batch(fd, p, 2, 0, frames, errors));
	munmap(p, 2 * PAGE);
	close(fd);
}

void map_nobody(void)
{
	int fd = privcmd_open();
	void *p = area(fd, 40, PROT_READ);

	memset(errors, 0x55, sizeof(errors));
	tell("map", batch(fd, p, 40, NOBODY, stamped, errors));
	tell_errors("errors", errors, 41);
	munmap(p, 40 * PAGE);
	p = area(fd, 4, PROT_READ);
	memset(errors, 0x55, sizeof(errors));
	tell("map DOMID_XEN", batch(fd, p, 1, DOMID_XEN, stamped, errors));
	munmap(p, 4 * PAGE);
	close(fd);
}

void map_writable(void)
{
	int fd = privcmd_open();
	uint64_t *p = area(fd, 3, PROT_READ | PROT_WRITE), value = 0;
	void *q = area(fd, 3, PROT_READ);

	map_and_tell(fd, p, stamped, 3);
	say("signal at writing: %d", poke(&p[PAGE / 8 + 5], 1234));
	tell("map again", batch(fd, q, 3, guest, stamped, errors));
	peek((char *)q + PAGE + 40, &value);
	say("seen through the other: %lu", (unsigned long)value);
	say("signal at writing read-only: %d", poke(q, 1));
	munmap(p, 3 * PAGE);
	munmap(q, 3 * PAGE);
	close(fd);
}

/* A private mapping gives copies to who writes; they are the kernel's to free. */
void map_private(void)
{
	int fd = privcmd_open();
	uint64_t *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	void *q = area(fd, 8, PROT_READ);

	need(p != MAP_FAILED, "mmap privately");
	map_and_tell(fd, p, stamped, 8);
	say("signal at writing: %d", poke(&p[PAGE / 8 * 3], 99));
	tell_pages("pages", p, stamped, 8);
	tell("map again", batch(fd, q, 8, guest, stamped, errors));
	tell_pages("the guest's", q, stamped, 8);
	tell("munmap", munmap(p, 8 * PAGE));
	munmap(q, 8 * PAGE);
	close(fd);
}

/* Holes of one vma filled with frames of another domain, or that claim to be. */
void map_domains_mixed(void)
{
	uint64_t frames[4] = { stamped[0], 0xfffff, 0xfffff, stamped[3] };
	int fd = privcmd_open();
	char *p = area(fd, 4, PROT_READ);

	map_and_tell(fd, p, frames, 4);
	memset(errors, 0x55, sizeof(errors));
	tell("fill", batch(fd, p + PAGE, 1, NOBODY, stamped, errors));
	tell_errors("errors", errors, 2);
	tell("fill", batch(fd, p + 2 * PAGE, 1, guest, stamped + 2, errors));
	tell_pages("pages", p, stamped, 1);
	tell_pages("pages", p + 3 * PAGE, stamped + 3, 1);
	munmap(p, 4 * PAGE);
	close(fd);
}

void runs_map(void)
{
	uint64_t frames[30], i;
	int fd = privcmd_open();
	char *p = area(fd, 30, PROT_READ);
	struct privcmd_mmap_entry run[3] = {
		{ (unsigned long)p, 0x1000, 10 },
		{ (unsigned long)p + 10 * PAGE, 0x2000, 0 },
		{ (unsigned long)p + 10 * PAGE, 0x3000, 20 },
	};
	uint64_t value;

	for (i = 0; i < 30; i++)
		frames[i] = (i < 10 ? 0x1000 : 0x3000 - 10) + i;
	tell("map", runs(fd, 3, guest, run));
	if (batch(fd, p, 1, guest, frames, &(int){ 0 }))
		say("and then batch: %s", strerrorname_np(errno));
	say("signals: %d %d", peek(p, &value), peek(p + 29 * PAGE, &value));
	for (i = 0; i < STAMPED; i++)
		if (stamped[i] == 0x1000 || stamped[i] == 0x3005)
			tell_pages("a page", p + (stamped[i] == 0x1000 ? 0 : 15) * PAGE,
				   &stamped[i], 1);
	tell("munmap", munmap(p, 30 * PAGE));
	close(fd);
}

void runs_errors(void)
{
	int fd = privcmd_open();
	char *p = area(fd, 30, PROT_READ);
	struct privcmd_mmap_entry good = { (unsigned long)p, 0x1000, 30 };
	struct privcmd_mmap_entry run[2];
	uint64_t value;

	tell("none", runs(fd, 0, guest, &good));
	tell("minus one", runs(fd, -1, guest, &good));
	tell("unreadable", runs(fd, 1, guest, (void *)8));
	run[0] = good; run[0].va += PAGE;
	tell("not at the start", runs(fd, 1, guest, run));
	run[0] = good; run[0].npages = 31;
	tell("too long", runs(fd, 1, guest, run));
	tell("again", runs(fd, 1, guest, &good));
	munmap(p, 30 * PAGE);
	p = area(fd, 30, PROT_READ); good.va = (unsigned long)p;
	run[0] = good; run[0].npages = 1UL << 52;
	tell("wraps", runs(fd, 1, guest, run));
	munmap(p, 30 * PAGE);
	p = area(fd, 30, PROT_READ); good.va = (unsigned long)p;
	run[0] = good; run[0].npages = 10;
	run[1] = run[0]; run[1].va += 11 * PAGE;
	tell("gap", runs(fd, 2, guest, run));
	say("signals: %d %d", peek(p, &value), peek(p + 10 * PAGE, &value));
	munmap(p, 30 * PAGE);
	p = area(fd, 30, PROT_READ);
	run[0] = (struct privcmd_mmap_entry){ (unsigned long)p, 0x9e, 30 };
	tell("into a hole", runs(fd, 1, guest, run));
	say("signals: %d %d %d", peek(p, &value), peek(p + PAGE, &value),
	    peek(p + 2 * PAGE, &value));
	munmap(p, 30 * PAGE);
	p = area(fd, 1, PROT_READ);
	run[0] = (struct privcmd_mmap_entry){ (unsigned long)p, 1, 1 };
	tell("nobody's", runs(fd, 1, NOBODY, run));
	munmap(p, PAGE);
	close(fd);
}

void runs_other_vma(void)
{
	int fd = privcmd_open();
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct privcmd_mmap_entry run = { (unsigned long)p, 0x1000, 1 };

	tell("over anonymous memory", runs(fd, 1, guest, &run));
	munmap(p, PAGE);
	close(fd);
}
