/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The guard undoes for the killed, and only for them; nobody gets in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/guard.h"

static char file[64], undone[80], go[80], asked[80];

static void touch(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f)
		fclose(f);
}

static bool there(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(file, "/tmp/xenferry-guard-XXXXXX");
	fd = mkstemp(file);
	snprintf(undone, sizeof(undone), "%s.undone", file);
	snprintf(go, sizeof(go), "%s.go", file);
	snprintf(asked, sizeof(asked), "%s.asked", file);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	unlink(undone);
	unlink(go);
	unlink(asked);
	return unlink(file);
}

/* In the guard: 7 was asked for. Waits for the test's word, as a slow hypervisor would. */
static void undo(uint32_t number, enum guard_why why, void *data)
{
	if (why == GUARD_ASKED)
		touch(asked);
	for (int i = 0; i < 500 && !there(go); i++)
		usleep(10000);
	if (number == 7)
		touch(data);
}

static void ended_in_order(void **state)
{
	struct guard g = { .pid = 0 };

	(void)state;
	touch(go);
	guard_end(&g);		/* none there */
	assert_int_equal(guard_start(&g, file, 7, 0, undo, undone), 0);
	guard_end(&g);
	assert_false(there(undone));
	assert_int_equal(guard_start(&g, file, 7, 0, undo, undone), 0);	/* the lock is free again */
	guard_end(&g);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);	/* no child left */
}

/* A process that has a guard and is killed; its pipe's other end shows what it held open. */
static int killed_process(void)
{
	struct guard g;
	int fds[2];
	pid_t pid;
	char ready;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(fds[0]);
		if (guard_start(&g, file, 7, 0, undo, undone) || write(fds[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &ready, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return fds[0];
}

static void killed(void **state)
{
	struct guard g;
	char byte;
	int held;

	(void)state;
	held = killed_process();
	/* The guard keeps none of the killed one's pipes open: this ends at once. */
	assert_int_equal(read(held, &byte, 1), 0);
	close(held);
	/* Not undone yet: a second try has to wait, another number has not. */
	assert_false(there(undone));
	assert_int_equal(guard_start(&g, file, 7, 0, undo, undone), -EBUSY);
	assert_int_equal(guard_start(&g, file, 8, 0, undo, undone), 0);
	guard_end(&g);
	touch(go);
	assert_int_equal(guard_start(&g, file, 7, 20, undo, undone), 0);
	assert_true(there(undone));
	assert_false(there(asked));
	guard_end(&g);
}

/* We go on at once; a second try waits until it has been done. */
static void handed_over(void **state)
{
	struct guard g, next;
	pid_t pid;

	(void)state;
	assert_int_equal(guard_start(&g, file, 7, 0, undo, undone), 0);
	pid = g.pid;
	assert_int_equal(guard_hand_over(&g), 0);
	assert_int_equal(g.pid, 0);
	assert_int_equal(guard_hand_over(&g), -ESRCH);
	guard_end(&g);		/* none there any more */
	assert_false(there(undone));
	assert_int_equal(guard_start(&next, file, 7, 0, undo, undone), -EBUSY);
	touch(go);
	assert_int_equal(guard_start(&next, file, 7, 20, undo, undone), 0);
	assert_true(there(undone) && there(asked));
	guard_end(&next);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Nobody there to do it: it is said, and the rest is as before. */
static void handed_over_to_nobody(void **state)
{
	struct guard g;

	(void)state;
	touch(go);
	assert_int_equal(guard_start(&g, file, 7, 0, undo, undone), 0);
	kill(g.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)g.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_int_equal(guard_hand_over(&g), -EPIPE);
	assert_int_not_equal(g.pid, 0);
	guard_end(&g);
	assert_false(there(undone));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void file_cannot_be_made(void **state)
{
	struct guard g;

	(void)state;
	assert_int_equal(guard_start(&g, "/nowhere/at/all", 7, 0, undo, undone), -ENOENT);
	guard_end(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ended_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(killed, setup, teardown),
		cmocka_unit_test_setup_teardown(handed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(handed_over_to_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(file_cannot_be_made, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
