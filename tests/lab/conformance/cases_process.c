// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes and threads that come and go with frames mapped; and hypercall buffers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "conform.h"

static int errors[STAMPED];

static void touch(void *p)
{
	*(volatile char *)p;
}

static void map_own_area(void *arg)
{
	int fd = privcmd_open();
	void *p = area(fd, 600, PROT_READ);

	(void)arg;
	if (batch(fd, p, 600, guest, stamped, errors) || !pages_show(p, stamped, 600))
		_exit(1);
}

void fork_child(void)
{
	int fd = privcmd_open();
	void *p = area(fd, 600, PROT_READ);

	tell("map", batch(fd, p, 600, guest, stamped, errors));
	say("child that touches it: %d", in_child(touch, p));
	say("child that maps its own: %d", in_child(map_own_area, NULL));
	tell_pages("pages", p, stamped, 600);
	tell("munmap", munmap(p, 600 * PAGE));
	close(fd);
}

void exit_mapped(void)
{
	int i;

	for (i = 0; i < 5; i++)
		say("child: %d", in_child(map_own_area, NULL));
}

void kill_mapper(void)
{
	int i, ready[2], status;

	for (i = 0; i < 5; i++) {
		char c = 0;
		pid_t pid;

		need(!pipe(ready), "make a pipe");
		pid = fork();
		if (!pid) {
			map_own_area(NULL);
			need(write(ready[1], &c, 1) == 1, "tell the parent");
			for (;;)
				pause();
		}
		close(ready[1]);
		say("mapped: %zd", read(ready[0], &c, 1));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		say("killed by: %d", WTERMSIG(status));
		close(ready[0]);
	}
	say("a child afterwards: %d", in_child(map_own_area, NULL));
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* The first map of a process whose signals come thick and fast. */
static void map_signalled(void *arg)
{
	struct itimerval often = { { 0, 1000 }, { 0, *(int *)arg } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	int fd = privcmd_open();
	void *p = area(fd, 64, PROT_READ);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (batch(fd, p, 64, guest, stamped, errors))
		_exit(errno);
	_exit(!pages_show(p, stamped, 64));
}

void signalled(void)
{
	/* A page costs a PVH Dom0 much more, and an emulated one has all day to be interrupted. */
	int i, step = dom0_is_pvh ? 10 : 1, status, bad = 0;

	for (i = 1; i <= 200; i += step) {
		status = in_child(map_signalled, &i);
		if (status && !bad++)
			say("child: %d", status);
	}
	say("%d of %d bad", bad, 200 / step);
}

static void map_and_exec(void *arg)
{
	(void)arg;
	map_own_area(NULL);
	execl("/bin/true", "true", NULL);
	_exit(9);
}

void exec_mapped(void)
{
	say("child: %d", in_child(map_and_exec, NULL));
}

void close_first(void)
{
	int fd = privcmd_open();
	void *p = area(fd, 600, PROT_READ);

	tell("map", batch(fd, p, 600, guest, stamped, errors));
	close(fd);
	tell_pages("pages", p, stamped, 600);
	tell("munmap", munmap(p, 600 * PAGE));
}

static void *map_in_thread(void *arg)
{
	static const unsigned int sizes[] = { 1, 700, 3, 64, 513 };
	const uint64_t *frames = stamped + (long)arg * 700;
	int fd = privcmd_open(), e[700];
	unsigned long i, bad = 0, times = dom0_is_pvh ? 5 : 25;

	for (i = 0; i < times; i++) {
		unsigned int n = sizes[i % 5];
		void *p = area(fd, n, PROT_READ);

		bad += batch(fd, p, n, guest, frames, e) || !pages_show(p, frames, n);
		bad += munmap(p, n * PAGE) != 0;
	}
	close(fd);
	return (void *)bad;
}

void threads_map(void)
{
	pthread_t thread[4];
	void *bad;
	long i;

	for (i = 0; i < 4; i++)
		need(!pthread_create(&thread[i], NULL, map_in_thread, (void *)i), "start a thread");
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &bad);
		say("thread %ld: %lu bad", i, (unsigned long)bad);
	}
}

/* System calls that read and write the mapped memory. */
void kernel_access(void)
{
	int fd = privcmd_open(), file = memfd_create("file", 0);
	char *p = area(fd, 2, PROT_READ | PROT_WRITE);
	uint64_t frames[2] = { stamped[0], 0xfffff }, value = 0;

	tell("map", batch(fd, p, 2, guest, frames, errors));
	tell("write from it", write(file, p, PAGE));
	tell("from the hole", pwrite(file, p + PAGE, 8, 0) < 0 ? -1 : 0);
	tell("read into it", pread(file, p, PAGE, 0));
	tell_pages("page", p, stamped, 1);
	tell("what was written", pread(file, &value, 8, 0));
	say("is the stamp: %d", value == stamp_of(stamped[0]));
	munmap(p, 2 * PAGE);
	close(file);
	close(fd);
}

static int buffers_open(void)
{
	int fd = open("/dev/xen/hypercall", O_RDWR | O_CLOEXEC);

	need(fd >= 0, "open /dev/xen/hypercall");
	return fd;
}

void buffers(void)
{
	int fd = buffers_open();
	char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint64_t value = 1;
	void *q = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	tell("private", q == MAP_FAILED ? -1 : 0);
	need(p != MAP_FAILED, "mmap a hypercall buffer");
	say("signal: %d, content %lu", peek(p + 7 * PAGE, &value), (unsigned long)value);
	say("signal at writing: %d", poke(p + 3 * PAGE, 5));
	tell("ioctl", ioctl(fd, IOCTL_PRIVCMD_RESTRICT, &guest));
	tell("grow", mremap(p, 8 * PAGE, 9 * PAGE, 0) == MAP_FAILED ? -1 : 0);
	tell("part munmap", munmap(p + 4 * PAGE, PAGE));
	say("signals: %d %d", peek(p + 3 * PAGE, &value), peek(p + 4 * PAGE, &value));
	close(fd);
	say("signal: %d, content %lu", peek(p + 3 * PAGE, &value), (unsigned long)value);
	tell("munmap", munmap(p, 8 * PAGE));
}

static void write_there(void *p)
{
	*(volatile uint64_t *)p = 42;
}

void buffers_fork(void)
{
	int fd = buffers_open();
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint64_t value = 0;

	need(p != MAP_FAILED, "mmap a hypercall buffer");
	say("child that writes: %d", in_child(write_there, p));
	peek(p, &value);
	say("content: %lu", (unsigned long)value);
	tell("munmap", munmap(p, 2 * PAGE));
	close(fd);
}

void buffers_huge(void)
{
	int fd = buffers_open();
	void *p = mmap(NULL, 1UL << 44, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	tell("16 TiB", p == MAP_FAILED ? -1 : 0);
	close(fd);
}
