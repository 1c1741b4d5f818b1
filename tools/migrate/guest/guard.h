/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small process that undoes what a killed one can't: it waits at a
 * connection, and where that ends without a word it calls `undo`. A parent that
 * has no time to undo hands that over. While it or its parent
 * lives, nobody else gets a guard for the same number from the same file: so a
 * second try never meets a late undo of the first.
 */
#ifndef XENFERRY_GUARD_H
#define XENFERRY_GUARD_H

#include <stdint.h>
#include <sys/types.h>

#define GUARD_FILE "/run/xenferry.lock"

struct guard {
	pid_t pid;	/* 0: none */
	int end;	/* of a connection to it */
	int lock;
};

enum guard_why {
	GUARD_KILLED,	/* the parent is gone */
	GUARD_ASKED,	/* it has handed over */
};

typedef void (*guard_undo)(uint32_t number, enum guard_why why, void *data);

/*
 * Waits up to `seconds` for another guard of this number to end, then -EBUSY.
 * undo runs in a process of its own, with no descriptor open; data is memory it shares
 * with this one, or what it was when the guard was started. 0 or a negative errno.
 */
int guard_start(struct guard *g, const char *file, uint32_t number, unsigned seconds,
		guard_undo undo, void *data);

/* All is undone already: the process goes without calling undo. Fine without a guard. */
void guard_end(struct guard *g);

/*
 * Has undo called and goes on at once; the guard keeps the lock until that has been
 * done. 0, and there is no guard any more; or a negative errno, all as before:
 * nobody is there who would do it.
 */
int guard_hand_over(struct guard *g);

#endif
