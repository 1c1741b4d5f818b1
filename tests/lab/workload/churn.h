// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Page-table churn: a process that never rests from mmap, mremap, mprotect, fork, exec and munmap, at addresses that
 * need tables of all levels anew. In a PV guest each of these makes, pins, changes and frees page tables. Each round
 * checks what its few pages hold, before and after, in the parent and in the child.
 */
#ifndef CHURN_H
#define CHURN_H

#include <stdbool.h>
#include <stdint.h>

#define CHURN_AREAS 6
#define CHURN_PAGES 24

/* In memory that both processes see. */
struct churn {
	volatile uint64_t rounds;	/* completed */
	volatile uint64_t bad;		/* of them those in which a page held something else or a child died */
	volatile int pid;		/* of the process */
	volatile int error;		/* why the last try didn't complete, negative errno: no memory, say */
};

struct churn_areas {
	unsigned char *area[CHURN_AREAS];
	uint64_t round;
};

/* Starts the process; program is executed by its children with CHURN_WORD as its one argument. 0 or a negative errno. */
#define CHURN_WORD "churned"
int churn_start(const char *program, struct churn **out);

/* What program does then: its exit status. */
int churn_grown_up(void);

/* The parts of it. */
int churn_map(struct churn_areas *areas, uint64_t round);	/* 0 or a negative errno, then nothing is mapped */
bool churn_holds(const struct churn_areas *areas);
void churn_unmap(struct churn_areas *areas);
void churn_round(struct churn *churn, const char *program);

#endif
