// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xen/xenferry_privcmd.h>

domid_t guest;
uint64_t stamped[STAMPED];
bool module_is_ours, dom0_is_pvh;
static const char *current_case = "setup";
static unsigned int failures;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%s: ", current_case);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

long tell(const char *what, long result)
{
	if (result < 0)
		say("%s = %ld %s", what, result, strerrorname_np(errno));
	else
		say("%s = %ld", what, result);
	return result;
}

void check(bool holds, const char *format, ...)
{
	va_list args;

	if (holds)
		return;
	failures++;
	va_start(args, format);
	printf("%s: FAILED: ", current_case);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

void need(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: could not %s: %s\n", current_case, what, strerror(errno));
	exit(2);
}

int privcmd_open(void)
{
	int fd = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC);

	need(fd >= 0, "open /dev/xen/privcmd");
	return fd;
}

void *area(int fd, unsigned long pages, int prot)
{
	void *p = mmap(NULL, pages * PAGE, prot, MAP_SHARED, fd, 0);

	need(p != MAP_FAILED, "mmap /dev/xen/privcmd");
	return p;
}

void *area_at(int fd, void *where, unsigned long pages, int prot)
{
	void *p = mmap(where, pages * PAGE, prot, MAP_SHARED | MAP_FIXED, fd, 0);

	need(p == where, "mmap /dev/xen/privcmd at a given address");
	return p;
}

char *room(unsigned long pages)
{
	unsigned long big = 2UL << 20, len = pages * PAGE + 3 * big;
	char *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "reserve address space");
	need(!munmap(p, len), "give address space back");
	return (char *)(((unsigned long)p + big) & ~(big - 1));
}

int batch(int fd, void *addr, unsigned int num, domid_t domid,
	  const uint64_t *frames, int *errors)
{
	struct privcmd_mmapbatch_v2 cmd = {
		.num = num, .dom = domid, .addr = (unsigned long)addr,
		.arr = (const xen_pfn_t *)frames, .err = errors,
	};

	return ioctl(fd, IOCTL_PRIVCMD_MMAPBATCH_V2, &cmd);
}

int batch_v1(int fd, void *addr, int num, domid_t domid, uint64_t *frames)
{
	struct privcmd_mmapbatch cmd = {
		.num = num, .dom = domid, .addr = (unsigned long)addr,
		.arr = (xen_pfn_t *)frames,
	};

	return ioctl(fd, IOCTL_PRIVCMD_MMAPBATCH, &cmd);
}

int runs(int fd, int num, domid_t domid, struct privcmd_mmap_entry *entries)
{
	struct privcmd_mmap cmd = { .num = num, .dom = domid, .entry = entries };

	return ioctl(fd, IOCTL_PRIVCMD_MMAP, &cmd);
}

long hypercall(int fd, uint64_t op, uint64_t a, uint64_t b, uint64_t c)
{
	struct privcmd_hypercall cmd = { .op = op, .arg = { a, b, c } };

	return ioctl(fd, IOCTL_PRIVCMD_HYPERCALL, &cmd);
}

static _Thread_local sigjmp_buf fault_return;
static _Thread_local volatile sig_atomic_t fault_expected;

static void on_fault(int sig)
{
	if (!fault_expected) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	siglongjmp(fault_return, sig);
}

static void catch_faults(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

int peek(const void *addr, uint64_t *value)
{
	int sig;

	fault_expected = 1;
	sig = sigsetjmp(fault_return, 1);
	if (!sig)
		*value = *(const volatile uint64_t *)addr;
	fault_expected = 0;
	return sig;
}

int poke(void *addr, uint64_t value)
{
	int sig;

	fault_expected = 1;
	sig = sigsetjmp(fault_return, 1);
	if (!sig)
		*(volatile uint64_t *)addr = value;
	fault_expected = 0;
	return sig;
}

uint64_t stamp_of(uint64_t frame)
{
	return frame * 0x9e3779b97f4a7c15ULL ^ 0x5858454e46455252ULL;
}

/* Both ends of a page carry its stamp. */
static const char *page_state(const char *addr, uint64_t frame)
{
	uint64_t first = 0, last = 0;
	int sig = peek(addr, &first);

	if (!sig)
		sig = peek(addr + PAGE - 8, &last);
	if (sig)
		return sig == SIGBUS ? "bus" : "segv";
	return first == stamp_of(frame) && last == ~stamp_of(frame) ? "ok" : "wrong";
}

void tell_pages(const char *what, const void *addr, const uint64_t *frames,
		unsigned long n)
{
	char text[1024] = "";
	size_t len = 0;
	unsigned long i, same;

	for (i = 0; i < n; i += same) {
		const char *state = page_state((const char *)addr + i * PAGE, frames[i]);

		for (same = 1; i + same < n; same++)
			if (strcmp(page_state((const char *)addr + (i + same) * PAGE,
					      frames[i + same]), state))
				break;
		if (len < sizeof(text) - 32)
			len += sprintf(text + len, " %s*%lu", state, same);
	}
	say("%s:%s", what, text);
}

bool pages_show(const void *addr, const uint64_t *frames, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		if (strcmp(page_state((const char *)addr + i * PAGE, frames[i]), "ok"))
			return false;
	return true;
}

void tell_errors(const char *what, const int *errors, unsigned long n)
{
	char text[1024] = "";
	size_t len = 0;
	unsigned long i, same;

	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && errors[i + same] == errors[i]; same++)
			;
		if (len < sizeof(text) - 32)
			len += sprintf(text + len, " %d*%lu", errors[i], same);
	}
	say("%s:%s", what, text);
}

int in_child(void (*run)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		run(arg);
		fflush(stdout);
		_exit(0);
	}
	need(waitpid(pid, &status, 0) == pid, "wait for the child");
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void choose_frames(void)
{
	unsigned long i;

	for (i = 0; i < STAMPED; i++)
		stamped[i] = 0x1000 + i * 2741 % (6 * STAMPED - 7);
}

/* Of a program that ran before. */
static bool stamps_stand(int fd)
{
	static int errors[STAMPED];
	unsigned long n;
	bool stand = false;
	void *p;

	/* The first one says it of a fresh guest; then all of them. */
	for (n = 1; n <= STAMPED; n += STAMPED - 1) {
		p = area(fd, n, PROT_READ);
		stand = !batch(fd, p, n, guest, stamped, errors) && pages_show(p, stamped, n);
		munmap(p, n * PAGE);
		if (!stand)
			break;
	}
	return stand;
}

/*
 * Each frame is stamped through a mapping of its own, so that nothing that
 * goes wrong with several at a time can go wrong here in the same way.
 */
static void stamp_frames(int fd)
{
	unsigned long i;

	for (i = 0; i < STAMPED; i++) {
		int error = 0;
		uint64_t *p;

		p = area(fd, 1, PROT_READ | PROT_WRITE);
		need(!batch(fd, p, 1, guest, &stamped[i], &error) && !error,
		     "map a frame of the guest to stamp it");
		p[0] = stamp_of(stamped[i]);
		p[PAGE / 8 - 1] = ~stamp_of(stamped[i]);
		munmap(p, PAGE);
	}
}

static bool guest_type_is_pvh(void)
{
	char type[8] = "";
	int fd = open("/sys/hypervisor/guest_type", O_RDONLY);

	need(fd >= 0 && read(fd, type, sizeof(type) - 1) > 0,
	     "read /sys/hypervisor/guest_type");
	close(fd);
	return !strncmp(type, "PVH", 3);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* How long it took goes to stderr: stdout holds nothing that differs from run to run. */
static void run_case(const struct test_case *c)
{
	const char *danger = dom0_is_pvh ? c->stock_pvh : c->stock_pv;
	double begun = now();

	current_case = c->name;
	if (danger && !module_is_ours)
		say("not run on the stock module: %s", danger);
	else
		c->run();
	fprintf(stderr, "%s took %.1f s\n", c->name, now() - begun);
}

int run_cases(int argc, char **argv, const struct test_case *cases)
{
	struct xenferry_query query = { 0 };
	double begun = now();
	unsigned int ran = 0;
	int fd;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s DOMID [PATTERN]\nDOMID is a paused PVH guest of 128 MiB; its memory is written over.\n", argv[0]);
		return 2;
	}
	guest = atoi(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_faults();
	dom0_is_pvh = guest_type_is_pvh();
	fd = privcmd_open();
	module_is_ours = !ioctl(fd, IOCTL_XENFERRY_QUERY, &query);
	choose_frames();
	if (!stamps_stand(fd))
		stamp_frames(fd);
	fprintf(stderr, "stamping the frames took %.1f s\n", now() - begun);
	close(fd);
	for (; cases->name; cases++) {
		if (argc == 3 && fnmatch(argv[2], cases->name, FNM_EXTMATCH))
			continue;
		run_case(cases);
		ran++;
	}
	if (!ran)
		fprintf(stderr, "no case is called %s\n", argv[2]);
	return failures || !ran;
}
