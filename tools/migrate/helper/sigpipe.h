/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A write to a peer that is gone: an error instead of the program's death. */
#ifndef XENFERRY_SIGPIPE_H
#define XENFERRY_SIGPIPE_H

#include <signal.h>

struct sigpipe {
	struct sigaction before;
};

static inline void sigpipe_ignore(struct sigpipe *s)
{
	sigaction(SIGPIPE, &(const struct sigaction) { .sa_handler = SIG_IGN }, &s->before);
}

static inline void sigpipe_restore(const struct sigpipe *s)
{
	sigaction(SIGPIPE, &s->before, NULL);
}

#endif
