/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Carries a command's input, output, error output and exit status between two
 * hosts, over one connection or several, as ssh would: either direction ends
 * on its own, and what arrives is in order and complete, or the session fails.
 * It is not taken up again after that.
 *
 * Threads: one reads the inputs, one writes the outputs, and each connection
 * has one that sends and one that receives.
 */
#ifndef XENFERRY_NET_SESSION_H
#define XENFERRY_NET_SESSION_H

#include <stdint.h>

#include "transport/net/advice.h"
#include "transport/net/hello.h"
#include "transport/net/link.h"

struct xf_session_setup {
	struct xf_link *links;		/* greeted on both sides; the caller closes them */
	unsigned n_links;
	uint32_t codecs;		/* agreed on, a bit for each */
	int codec;			/* to send with, or XF_ADVICE_AUTO */
	uint64_t bandwidth;		/* bytes a second to send, 0: no limit */
	unsigned keep_alive_ms;		/* something is sent at least so often */
	/* Channels, -1 for none. They are the session's, which closes them. */
	int in[XF_CHANNELS];
	int out[XF_CHANNELS];
	/*
	 * Where the command runs: what can be read from (POLLIN) once it has
	 * ended, and then is asked for its status. -1: at the other end.
	 */
	int ended_fd;
	int (*status)(void *ctx);
	void *ctx;
};

struct xf_session_result {
	int has_status;			/* the command ended, and this is its */
	int status;
	uint64_t raw_sent, raw_received;	/* what the channels carried */
	uint64_t wire_sent, wire_received;	/* what the connections did, before TLS */
	uint64_t blocks[XF_CODECS];	/* sent with each codec */
	uint64_t switches;
};

/* 0 once the command has ended and both sides know; or a negative errno with the sentence. */
int xf_session_run(struct xf_session_setup *s, struct xf_session_result *r, struct xf_error *e);

#endif
