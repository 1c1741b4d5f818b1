/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What listens: takes calls, reads their preambles (and nothing more: what
 * callers say is for a process of its own), starts a process for each session
 * and hands it its further connections.
 */
#ifndef XENFERRY_NET_DOOR_H
#define XENFERRY_NET_DOOR_H

#include <stdint.h>
#include <sys/types.h>

#include "transport/net/hello.h"

#define XF_DOOR_CALLS	  64u	/* that haven't said their preamble; the oldest one makes room */
#define XF_DOOR_STRANGERS 64u	/* that have, and nobody knows yet who they are; likewise */

struct xf_door_setup {
	int listener;		/* from xf_tcp_listen */
	int stop_fd;		/* readable: take no more calls, and return; -1: never */
	unsigned greet_ms;	/* for a preamble */
	unsigned sessions_max;		/* of those let in */
	unsigned sessions_total;	/* return after so many of those have ended, 0: never */
	/*
	 * In a child process of its own: answers the call and leaves by its
	 * return, the child's exit status. more: where further connections come from.
	 * Who calls must be let in before anything is begun for it.
	 */
	int (*session)(void *ctx, int fd, int more, const uint8_t token[XF_TOKEN]);
	/* Something that a log should have; of a caller, or about a session's end. */
	void (*log)(void *ctx, const char *text);
	void *ctx;
};

/* In the child, once it knows that a peer calls: may it go on? 0, or a negative errno with the sentence for the peer. */
int xf_door_let_in(int more, struct xf_error *e);

/* 0 once stop_fd says so or sessions_total have ended; or a negative errno with the sentence. */
int xf_door_run(const struct xf_door_setup *s, struct xf_error *e);

#endif
