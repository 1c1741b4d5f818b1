/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the cases of privcmd-conform and privcmd-window are written with. */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>
#include <xen/xen.h>
#include <xen/sys/privcmd.h>

#define PAGE 4096UL

/* The guest: a paused one whose memory may be written over. */
extern domid_t guest;
/* Frames of it that carry a stamp each, in no order. */
#define STAMPED 4096
extern uint64_t stamped[STAMPED];
/* A domain id that no domain has. */
#define NOBODY 0x7000

/* Prints one observation: "CASE: TEXT". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* An observation of a call: "CASE: WHAT = RESULT [ERRNO]". */
long tell(const char *what, long result);
/* Counts a failure unless the condition holds (privcmd-window). */
void check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For what the program itself needs: ends it. */
void need(bool holds, const char *what);

struct test_case {
	const char *name;
	void (*run)(void);
	/* why it must not be run on the stock module, of a PV and of a PVH Dom0 */
	const char *stock_pv, *stock_pvh;
};
#define OURS_ONLY(n, f, pv, pvh) \
	{ .name = (n), .run = (f), .stock_pv = (pv), .stock_pvh = (pvh) }
#define CASE(n, f) OURS_ONLY(n, f, NULL, NULL)
#define END_OF_CASES OURS_ONLY(NULL, NULL, NULL, NULL)
int run_cases(int argc, char **argv, const struct test_case *cases);
extern bool module_is_ours, dom0_is_pvh;

int privcmd_open(void);
void *area(int fd, unsigned long pages, int prot);
void *area_at(int fd, void *where, unsigned long pages, int prot);
/* Address space with room for `pages` behind a 2 MiB boundary, nothing in it. */
char *room(unsigned long pages);

/* The ioctls; 0 or -1 with errno. */
int batch(int fd, void *addr, unsigned int num, domid_t domid,
	  const uint64_t *frames, int *errors);
int batch_v1(int fd, void *addr, int num, domid_t domid, uint64_t *frames);
int runs(int fd, int num, domid_t domid, struct privcmd_mmap_entry *entries);
long hypercall(int fd, uint64_t op, uint64_t a, uint64_t b, uint64_t c);

/* Reads a word: 0, or the signal it got. */
int peek(const void *addr, uint64_t *value);
int poke(void *addr, uint64_t value);
uint64_t stamp_of(uint64_t frame);
/* "ok*5 bus*1 wrong*2": what n pages show, against the stamps of the frames. */
void tell_pages(const char *what, const void *addr, const uint64_t *frames,
		unsigned long n);
bool pages_show(const void *addr, const uint64_t *frames, unsigned long n);
void tell_errors(const char *what, const int *errors, unsigned long n);
/* Runs it in a child: its exit status, or minus the signal that killed it. */
int in_child(void (*run)(void *), void *arg);

#endif
