/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls handed to libxenguest's own functions, timed from outside. */
#ifndef XENFERRY_PASSTHROUGH_H
#define XENFERRY_PASSTHROUGH_H

#include <stdbool.h>
#include <stdint.h>

#include <xenctrl.h>
#include <xenguest.h>

/* Arguments as xc_domain_save takes them. */
struct save_call {
	xc_interface *xch;
	int io_fd;
	uint32_t dom;
	uint32_t flags;
	struct save_callbacks *callbacks;
	xc_stream_type_t stream_type;
	int recv_fd;
};

/* Arguments as xc_domain_restore takes them. */
struct restore_call {
	xc_interface *xch;
	int io_fd;
	uint32_t dom;
	unsigned store_evtchn;
	unsigned long *store_gfn;
	uint32_t store_domid;
	unsigned console_evtchn;
	unsigned long *console_gfn;
	uint32_t console_domid;
	xc_stream_type_t stream_type;
	struct restore_callbacks *callbacks;
	int send_back_fd;
};

/* Return what the stock function returned, and its errno. */
int passthrough_save(const struct save_call *call, const char *stats_path);
int passthrough_restore(const struct restore_call *call, const char *stats_path);

#endif
