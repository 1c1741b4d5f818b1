// SPDX-License-Identifier: LGPL-2.1-or-later
#include "churn.h"
#include "page.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AREA_BYTES ((size_t)CHURN_PAGES * PAGE_BYTES)
#define BASE 0x200000000000ULL
#define PLACES 4096	/* of 1 GiB each, so an area has tables of its own, and lies under one of eight top entries */

static void *place(uint64_t round, int area)
{
	return (void *)(uintptr_t)(BASE + (page_mix(round * CHURN_AREAS + (uint64_t)area + 1) % PLACES << 30));
}

static uint64_t *word_of(const struct churn_areas *areas, int area, int page)
{
	return (uint64_t *)(void *)(areas->area[area] + (size_t)page * PAGE_BYTES);
}

static uint64_t word(uint64_t round, int area, int page)
{
	return page_mix(round << 16 ^ (uint64_t)(area << 8 | page)) | 1;	/* never that of an empty page */
}

static void fill(const struct churn_areas *areas)
{
	for (int a = 0; a < CHURN_AREAS; a++)
		for (int p = 0; p < CHURN_PAGES; p++)
			*word_of(areas, a, p) = word(areas->round, a, p);
}

/* A hint only: where something is already, the kernel finds another place. */
static unsigned char *map_at(void *where)
{
	void *area = mmap(where, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return area == MAP_FAILED ? NULL : area;
}

int churn_map(struct churn_areas *areas, uint64_t round)
{
	*areas = (struct churn_areas){ .round = round };
	for (int a = 0; a < CHURN_AREAS; a++) {
		areas->area[a] = map_at(place(round, a));
		if (!areas->area[a]) {
			int err = -errno;

			churn_unmap(areas);
			return err;
		}
	}
	fill(areas);
	return 0;
}

bool churn_holds(const struct churn_areas *areas)
{
	bool all = true;

	for (int a = 0; a < CHURN_AREAS; a++)
		for (int p = 0; p < CHURN_PAGES; p++)
			all &= *word_of(areas, a, p) == word(areas->round, a, p);
	return all;
}

void churn_unmap(struct churn_areas *areas)
{
	for (int a = 0; a < CHURN_AREAS; a++)
		if (areas->area[a])
			munmap(areas->area[a], AREA_BYTES);
	*areas = (struct churn_areas){ 0 };
}

/* The entries of one area move to another place, and another area is read-only for a while. */
static int rearrange(struct churn_areas *areas)
{
	unsigned char *room = map_at(place(~areas->round, 0));
	void *moved;

	if (!room)
		return -errno;
	moved = mremap(areas->area[0], AREA_BYTES, AREA_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	if (moved == MAP_FAILED) {
		int err = -errno;

		munmap(room, AREA_BYTES);
		return err;
	}
	areas->area[0] = moved;
	return mprotect(areas->area[1], AREA_BYTES, PROT_READ) ? -errno : 0;
}

/* Tells what it found by the program it becomes, or by its exit status. Pages are copied as they are written. */
static void child(struct churn_areas *areas, const char *program)
{
	char *const arguments[] = { (char *)"init", (char *)CHURN_WORD, NULL };
	char *const environment[] = { NULL };

	if (!churn_holds(areas) || mprotect(areas->area[1], AREA_BYTES, PROT_READ | PROT_WRITE))
		_exit(2);
	areas->round = ~areas->round;
	fill(areas);
	if (!churn_holds(areas))
		_exit(2);
	munmap(areas->area[2], AREA_BYTES);
	execve(program, arguments, environment);
	_exit(127);
}

static bool ended_well(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void churn_round(struct churn *churn, const char *program)
{
	struct churn_areas areas;
	int err = churn_map(&areas, churn->rounds);
	pid_t pid = -1;
	bool good;

	if (!err)
		err = rearrange(&areas);
	if (!err) {
		pid = fork();
		err = pid < 0 ? -errno : 0;
	}
	if (pid == 0)
		child(&areas, program);
	if (!err) {
		good = ended_well(pid);
		good &= churn_holds(&areas);
		churn->bad += !good;
		churn->rounds++;
	}
	churn->error = err;
	churn_unmap(&areas);
}

static void churn_for_ever(struct churn *churn, const char *program)
{
	const struct timespec nap = { 0, 10000000 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		churn_round(churn, program);
		if (churn->error)
			nanosleep(&nap, NULL);
	}
}

int churn_start(const char *program, struct churn **out)
{
	struct churn *churn = mmap(NULL, sizeof(*churn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (churn == MAP_FAILED)
		return -errno;
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		munmap(churn, sizeof(*churn));
		return err;
	}
	if (pid == 0)
		churn_for_ever(churn, program);
	churn->pid = pid;
	*out = churn;
	return 0;
}

int churn_grown_up(void)
{
	struct churn_areas areas;
	bool good;

	if (churn_map(&areas, (uint64_t)getpid()))
		return 3;
	good = churn_holds(&areas);
	churn_unmap(&areas);
	return good ? 0 : 2;
}
