/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A whole session in one process: a shell command behind the serving side, the
 * calling side fed with bytes, TCP over loopback with real TLS or without, and
 * between the two somebody who can cut, stall, alter or repeat what passes.
 */
#ifndef NETJOB_H
#define NETJOB_H

#include <stddef.h>
#include <stdint.h>

#include "transport/net/greet.h"
#include "transport/net/session.h"

enum mischief {
	HARMLESS,
	CUT,		/* the connection ends */
	STALL,		/* nothing passes any more, but it stays */
	ALTER,		/* one byte is another one */
	REPEAT,		/* the last bytes come again */
};

struct netjob {
	/* what to do */
	const char *script;		/* for sh -c, at the serving side */
	const uint8_t *input;
	size_t input_len;
	int endless;			/* the input comes again and again until nobody reads it */
	int hold_input;			/* it isn't closed until all is over */
	int tls;
	unsigned lanes;			/* 0 is 1 */
	int codec;
	uint64_t bandwidth;
	unsigned keep_alive_ms, time_out_ms;	/* 0: 1 s and 20 s */
	enum mischief what;		/* on the first connection */
	int backwards;			/* of what the serving side sends */
	size_t after;			/* so many bytes */
	int close_output;		/* whoever called doesn't read */
	/* what came of it */
	struct {
		int ret;
		struct xf_error error;
		struct xf_session_result result;
	} client, server;
	int exited, status;		/* the command, as waitpid has it */
	char out[4096], err[4096];
	size_t passed[2];		/* bytes on the first connection, forwards and backwards */
};

void netjob_run(struct netjob *j);
/*
 * One side only, plain: the serving one (or else the calling one) gets these
 * bytes, and after them, unless the connection shall stay, its end.
 */
void netjob_raw(struct netjob *j, int serving, const void *bytes, size_t len, int stay);

/* This host's and another one's key, made once. */
const struct xf_identity *netjob_identity(int other);
/* Two connected TCP descriptors. */
void netjob_tcp(int fd[2]);

#endif
