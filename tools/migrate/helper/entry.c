// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * xc_domain_save and xc_domain_restore as libxenguest declares them. Loaded
 * ahead of it, these are the ones libxl-save-helper calls.
 */
#include "helper/config.h"
#include "helper/export.h"
#include "helper/logger.h"
#include "helper/ours.h"
#include "helper/passthrough.h"

static void load_config(const struct report *report, struct config *config)
{
	config_load(CONFIG_FILE, config);
	if (config->problem[0])
		report_warn(report, "%s", config->problem);
}

EXPORT int xc_domain_save(xc_interface *xch, int io_fd, uint32_t dom, uint32_t flags,
			  struct save_callbacks *callbacks, xc_stream_type_t stream_type,
			  int recv_fd)
{
	const struct save_call call = {
		xch, io_fd, dom, flags, callbacks, stream_type, recv_fd,
	};
	struct report report;
	struct config config;

	logger_report(xch, &report);
	load_config(&report, &config);
	if (config.stock_engine || !ours_can_save(&call))
		return passthrough_save(&call, config.stats);
	return ours_save(&call, &config, &report);
}

EXPORT int xc_domain_restore(xc_interface *xch, int io_fd, uint32_t dom,
			     unsigned int store_evtchn, unsigned long *store_gfn,
			     uint32_t store_domid, unsigned int console_evtchn,
			     unsigned long *console_gfn, uint32_t console_domid,
			     xc_stream_type_t stream_type,
			     struct restore_callbacks *callbacks, int send_back_fd)
{
	const struct restore_call call = {
		xch, io_fd, dom, store_evtchn, store_gfn, store_domid, console_evtchn,
		console_gfn, console_domid, stream_type, callbacks, send_back_fd,
	};
	struct report report;
	struct config config;

	logger_report(xch, &report);
	load_config(&report, &config);
	if (config.stock_engine || !ours_can_restore(&call))
		return passthrough_restore(&call, config.stats);
	return ours_restore(&call, &config, &report);
}
