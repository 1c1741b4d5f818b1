// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-stress SECONDS DOMID DOMAINS: processes of several threads that map,
 * replace, clear, move and unmap guests' frames, fork, and are killed and
 * started anew. DOMID is a paused guest of 128 MiB, whose frames are stamped
 * and must always show their stamp. DOMAINS is a file with a domain id a line
 * that may change at any time: those guests run, shrink, grow and die, so that
 * a frame of theirs may be there or not. Says how many of each it did; exits 1
 * if anything came out wrong.
 */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xen/xenferry_privcmd.h>

#define PROCESSES 3
#define THREADS 3
#define PAGES_MAX 1600

static const char *domains_file;

/* What all processes count together. */
enum { MAPPED, REPLACED, CLEARED, UNMAPPED, MOVED, FORKED, KILLED, REFUSED, WRONG, COUNTERS };
static const char *const counter_names[COUNTERS] = {
	"mapped", "replaced", "cleared", "unmapped", "moved", "forked", "killed", "frames_refused", "wrong",
};
static _Atomic unsigned long *counters;

static void count(unsigned int what, unsigned long n)
{
	atomic_fetch_add(&counters[what], n);
}

static void wrong(const char *format, unsigned long a, unsigned long b)
{
	count(WRONG, 1);
	printf(format, a, b);
	putchar('\n');
	fflush(stdout);
}

/* A thread's own area, and what is known of it. */
struct mapper {
	unsigned int seed;
	int fd;
	char *base;
	unsigned int pages;
	domid_t domid;		/* the stamped guest's, or another */
	uint64_t frames[PAGES_MAX];
	int errors[PAGES_MAX];
	bool mapped[PAGES_MAX];	/* frames[] of the stamped guest is there */
};

static unsigned int pick(struct mapper *m, unsigned int below)
{
	return rand_r(&m->seed) % below;
}

static domid_t pick_domain(struct mapper *m)
{
	unsigned int ids[16], n = 0;
	FILE *f;

	if (pick(m, 2))
		return guest;
	f = fopen(domains_file, "re");
	while (f && n < 16 && fscanf(f, "%u", &ids[n]) == 1)
		n++;
	if (f)
		fclose(f);
	/* One that is no more, or not yet, is worth trying too. */
	return n ? ids[pick(m, n)] + !pick(m, 16) : guest;
}

static void pick_frames(struct mapper *m, unsigned int first, unsigned int n)
{
	unsigned int i;

	for (i = first; i < first + n; i++)
		m->frames[i] = m->domid == guest ? stamped[pick(m, STAMPED)] :
						   pick(m, 33000);
}

/* Every page known to be mapped shows its stamp; none of the others says a signal other than SIGBUS. */
static void look(struct mapper *m)
{
	unsigned int i, step = 1 + pick(m, 30);
	uint64_t value;

	for (i = pick(m, step); i < m->pages; i += step) {
		const char *page = m->base + i * PAGE;
		int sig;

		if (m->mapped[i] && !pages_show(page, &m->frames[i], 1))
			wrong("page %lu of %lu does not show its frame", i, m->pages);
		sig = peek(page, &value);
		if (sig && sig != SIGBUS)
			wrong("page %lu said signal %lu", i, sig);
	}
}

/* The outcome of a call on pages [first, first + n). */
static void take_outcome(struct mapper *m, int rc, unsigned int first, unsigned int n)
{
	unsigned int i;
	bool ours = m->domid == guest;

	if (rc && (ours || (errno != ENOENT && errno != ESRCH && errno != EPERM)))
		wrong("a map of domain %lu said %lu", m->domid, errno);
	for (i = first; i < first + n; i++) {
		if (ours && m->errors[i])
			wrong("page %lu was refused with %lu", i, -m->errors[i]);
		count(REFUSED, m->errors[i] != 0);
		m->mapped[i] = ours && !rc && !m->errors[i];
	}
}

static void new_area(struct mapper *m)
{
	static const unsigned int sizes[] = { 1, 3, 64, 511, 513, 1024, PAGES_MAX };

	m->pages = sizes[pick(m, 7)];
	m->domid = pick_domain(m);
	m->base = area(m->fd, m->pages, PROT_READ);
	memset(m->mapped, 0, sizeof(m->mapped));
	if (pick(m, 4) == 0)
		return;
	memset(m->errors, 0, sizeof(m->errors));
	pick_frames(m, 0, m->pages);
	take_outcome(m, batch(m->fd, m->base, m->pages, m->domid, m->frames, m->errors),
		     0, m->pages);
	count(MAPPED, m->pages);
}

static void replace(struct mapper *m)
{
	unsigned int first = pick(m, m->pages), n = 1 + pick(m, m->pages - first);
	struct xenferry_map map;

	/* Of the same domain as before or not: the window takes any. */
	m->domid = pick_domain(m);
	pick_frames(m, first, n);
	map = (struct xenferry_map) {
		.addr = (unsigned long)m->base + first * PAGE,
		.frames = (unsigned long)&m->frames[first],
		.errors = (unsigned long)&m->errors[first], .num = n, .domid = m->domid,
	};
	memset(&m->errors[first], 0, n * sizeof(int));
	take_outcome(m, ioctl(m->fd, IOCTL_XENFERRY_MAP, &map), first, n);
	count(REPLACED, n);
}

static void clear(struct mapper *m)
{
	unsigned int first = pick(m, m->pages), n = 1 + pick(m, m->pages - first);
	struct xenferry_clear cmd = { .addr = (unsigned long)m->base + first * PAGE, .num = n };

	if (ioctl(m->fd, IOCTL_XENFERRY_CLEAR, &cmd))
		wrong("clear of %lu pages said %lu", n, errno);
	memset(&m->mapped[first], 0, n);
	count(CLEARED, n);
}

/* A part can't be unmapped, and stays as it was. */
static void unmap_part(struct mapper *m)
{
	unsigned int first = m->pages > 2 ? 1 + pick(m, m->pages - 2) : 1;

	if (m->pages < 3)
		return;
	if (!munmap(m->base + first * PAGE, PAGE))
		wrong("page %lu of %lu could be unmapped alone", first, m->pages);
	look(m);
}

static void move(struct mapper *m)
{
	char *to = mmap(NULL, m->pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *p;

	need(to != MAP_FAILED, "reserve address space");
	p = mremap(m->base, m->pages * PAGE, m->pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (p == MAP_FAILED) {
		wrong("mremap of %lu pages said %lu", m->pages, errno);
		munmap(to, m->pages * PAGE);
		return;
	}
	m->base = to;
	count(MOVED, m->pages);
}

/* The child has none of the area: touching it is a fault. */
static void fork_and_touch(struct mapper *m)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*(volatile char *)m->base;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
		wrong("a child that touches the area ended with %#lx (%lu pages)", status, m->pages);
	count(FORKED, 1);
}

static void unmap(struct mapper *m)
{
	if (munmap(m->base, m->pages * PAGE))
		wrong("munmap of %lu pages said %lu", m->pages, errno);
	count(UNMAPPED, m->pages);
}

static void one_area(struct mapper *m)
{
	unsigned int steps = pick(m, 12);

	new_area(m);
	while (steps--) {
		switch (pick(m, 8)) {
		case 0: case 1: case 2: replace(m); break;
		case 3: clear(m); break;
		case 4: unmap_part(m); break;
		case 5: if (!dom0_is_pvh || pick(m, 4) == 0) move(m); break;
		case 6: if (pick(m, 4) == 0) fork_and_touch(m); break;
		default: look(m);
		}
	}
	look(m);
	unmap(m);
}

static void *map_for_ever(void *arg)
{
	struct mapper *m = calloc(1, sizeof(*m));

	need(m, "have memory for a mapper");
	m->seed = (unsigned long)arg;
	m->fd = privcmd_open();
	for (;;)
		one_area(m);
	return NULL;
}

static pid_t start_process(unsigned int seed)
{
	pthread_t thread;
	unsigned long i;
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (pid)
		return pid;
	for (i = 1; i < THREADS; i++)
		need(!pthread_create(&thread, NULL, map_for_ever, (void *)(seed * 8UL + i)), "start a thread");
	map_for_ever((void *)(seed * 8UL));
	return 0;
}

/* Kills one of them now and then; one that ended by itself found something wrong. */
static void run_processes(unsigned int seconds)
{
	time_t end = time(NULL) + seconds;
	pid_t pids[PROCESSES];
	unsigned int i, seed = 1;
	int status;

	for (i = 0; i < PROCESSES; i++)
		pids[i] = start_process(seed++);
	while (time(NULL) < end) {
		usleep(1500000);
		i = seed % PROCESSES;
		kill(pids[i], SIGKILL);
		if (waitpid(pids[i], &status, 0) != pids[i] || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			wrong("process %lu ended by itself, status %#lx", i, status);
		count(KILLED, 1);
		pids[i] = start_process(seed++);
	}
	for (i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
	}
}

static unsigned int seconds;

static void stress(void)
{
	unsigned int i;

	counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(counters != MAP_FAILED, "have memory for the counters");
	run_processes(seconds);
	for (i = 0; i < COUNTERS; i++)
		printf("figure %s %lu\n", counter_names[i], counters[i]);
	for (i = 0; i < WRONG; i++)
		check(counters[i] || i == REFUSED, "nothing was %s", counter_names[i]);
	check(!counters[WRONG], "%lu outcomes were wrong", counters[WRONG]);
}

static const struct test_case cases[] = {
	CASE("stress", stress),
	END_OF_CASES
};

int main(int argc, char **argv)
{
	char *without[] = { argv[0], argc > 2 ? argv[2] : NULL, NULL };

	if (argc != 4) {
		fprintf(stderr, "usage: %s SECONDS DOMID DOMAINS\n", argv[0]);
		return 2;
	}
	seconds = atoi(argv[1]);
	domains_file = argv[3];
	return run_cases(2, without, cases);
}
