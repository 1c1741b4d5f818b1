/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `xenferry connect` and `xenferry listen` share. */
#ifndef XENFERRY_CMD_TRANSPORT_H
#define XENFERRY_CMD_TRANSPORT_H

#include <limits.h>
#include <stdint.h>

#include "transport/net/greet.h"

#define TRANSPORT_CONFIG "/etc/xenferry.conf"
#define TRANSPORT_PORT	 "8803"
#define EXIT_CARRIER	 255	/* as ssh's: the command may not even have been started */

struct transport_config {
	struct xf_peers peers;
	char certificate[PATH_MAX], key[PATH_MAX];
	char host[XF_PEER_NAME], port[8];	/* to listen on; host "": all addresses */
	int codec;				/* XF_ADVICE_AUTO, or one of enum xf_codec */
	unsigned connections;
	uint64_t bandwidth;			/* bytes a second, 0: no limit */
	unsigned keep_alive_ms, time_out_ms;
	int stock_engine;			/* "engine = stock" */
};

void transport_config_init(struct transport_config *c);
void transport_config_free(struct transport_config *c);
/*
 * Reads the file; other parts' keys are theirs. Unlike the engine, which does
 * its work whatever the file says, a mistake here is an error: who may come in
 * must not hang on a line that was misread. 0 or a negative errno with the sentence.
 */
int transport_config_load(const char *file, struct transport_config *c, struct xf_error *e);
/* One setting, as a line of the file or an option has it. */
int transport_config_set(struct transport_config *c, const char *key, const char *value, struct xf_error *e);

/* ---- the command that is let in (cmd_listen_command.c) --------------------- */

/* 0 if the words are xl's migrate-receive with options it may have; else -EPERM, with the sentence. */
int listen_command_allowed(const struct xf_hello *h, struct xf_error *e);

/* What goes on for a call, in a process of its own (cmd_listen_session.c). */
struct listen_options {
	const char *config;
	int plain, verbose;
};
int listen_session(void *options, int fd, int more, const uint8_t token[XF_TOKEN]);
/* One line of the log. */
void listen_log(void *options, const char *text);

#endif
