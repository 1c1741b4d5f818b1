// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/restore.h"
#include "helper/domain.h"
#include "helper/ours.h"
#include "helper/pipe.h"

static int hook_static_data_done(void *data, unsigned missing)
{
	const struct restore_callbacks *cb = data;

	return cb->static_data_done(missing, cb->data) ? -EIO : 0;
}

/*
 * The domain exists already, and its type says which functions can fill it: a
 * stream of the other type is refused by either. So nothing of the stream need
 * be read to decide.
 */
bool ours_can_restore(const struct restore_call *call)
{
	return call->stream_type == XC_STREAM_PLAIN && domain_is_ours(call->xch, call->dom);
}

/* What a file still holds from here on; 0 for anything but a file. */
static uint64_t bytes_ahead(int fd)
{
	struct stat st;
	off_t at;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	at = lseek(fd, 0, SEEK_CUR);
	return at >= 0 && at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
}

struct restore_order {
	const struct restore_call *call;
	const struct config *config;
};

static int run(const void *data, struct guest *guest, struct stats *stats, const struct report *report,
	       struct xf_error *err)
{
	const struct restore_order *order = data;
	const struct restore_call *call = order->call;
	const struct restore_callbacks *cb = call->callbacks;
	const struct restore_hooks hooks = {
		.static_data_done = cb && cb->static_data_done ? hook_static_data_done : NULL,
		.data = call->callbacks,
	};
	struct restore_result result;
	struct xf_transport_fd in;
	int rc;

	xf_transport_fd_init(&in, call->io_fd);
	pipe_enlarge(call->io_fd);
	rc = engine_restore(&(const struct restore_job) {
		.guest = guest,
		.in = &in.base,
		.size = bytes_ahead(call->io_fd),
		.single_pages = order->config->single_pages,
		.hooks = &hooks,
		.store = { call->store_evtchn, call->store_domid },
		.console = { call->console_evtchn, call->console_domid },
		.report = report,
		.stats = stats,
	}, &result, err);
	if (!rc) {
		*call->store_gfn = result.store_gfn;
		*call->console_gfn = result.console_gfn;
	}
	return rc;
}

int ours_restore(const struct restore_call *call, const struct config *config, const struct report *report)
{
	const struct restore_order order = { call, config };
	const struct run_job job = {
		.xch = call->xch, .domid = call->dom, .access = GUEST_WRITE, .side = "restore",
		.stats_path = config->stats, .run = run, .data = &order,
	};

	return run_on_domain(&job, report);
}
