// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "engine/save.h"
#include "helper/domain.h"
#include "helper/ours.h"
#include "helper/pipe.h"
#include "helper/sigpipe.h"
#include "transport/peer_note.h"

struct save_order {
	const struct save_call *call;
	const struct config *config;
};

struct hook_data {
	const struct save_callbacks *callbacks;
	uint32_t domid;
};

/* libxl's callbacks set no errno; this one says 0 for failure. */
static int hook_suspend(void *data)
{
	const struct save_callbacks *cb = ((struct hook_data *)data)->callbacks;

	return cb->suspend(cb->data) ? 0 : -EIO;
}

static enum policy_answer hook_policy(void *data, const struct policy_stats *s)
{
	const struct save_callbacks *cb = ((struct hook_data *)data)->callbacks;
	const struct precopy_stats stats = {
		.iteration = s->round, .total_written = s->written, .dirty_count = s->dirty,
	};
	int answer = cb->precopy_policy(stats, cb->data);

	return answer == XGS_POLICY_CONTINUE_PRECOPY ? POLICY_CONTINUE :
	       answer == XGS_POLICY_ABORT ? POLICY_ABORT : POLICY_STOP;
}

static int hook_qemu_logdirty(void *data, bool on)
{
	struct hook_data *h = data;

	return h->callbacks->switch_qemu_logdirty(h->domid, on, h->callbacks->data) ? -EIO : 0;
}

bool ours_can_save(const struct save_call *call)
{
	return call->stream_type == XC_STREAM_PLAIN && call->callbacks && call->callbacks->suspend &&
	       domain_is_ours(call->xch, call->dom);
}

/* Whether pages of zeroes may go without contents: somebody answers for it that they will be zero. */
static bool elides(const struct config *config, int fd)
{
	struct xf_peer_note peer;

	if (config->elide_zero != ELIDE_AUTO)
		return config->elide_zero == ELIDE_ALWAYS;
	return !xf_peer_find(fd, &peer) && peer.features & XF_FEATURE_ZEROED_ALLOC;
}

static int run(const void *data, struct guest *guest, struct stats *stats, const struct report *report,
	       struct xf_error *err)
{
	const struct save_order *order = data;
	const struct save_call *call = order->call;
	struct hook_data hook_data = { call->callbacks, call->dom };
	const struct save_hooks hooks = {
		.suspend = hook_suspend,
		.policy = call->callbacks->precopy_policy ? hook_policy : NULL,
		.qemu_logdirty = call->callbacks->switch_qemu_logdirty ? hook_qemu_logdirty : NULL,
		.data = &hook_data,
	};
	struct xf_transport_fd out;
	struct sigpipe sigpipe;
	int rc;

	xf_transport_fd_init(&out, call->io_fd);
	pipe_enlarge(call->io_fd);
	/* A receiver that dies must be an error, or nobody is left to switch log-dirty off. */
	sigpipe_ignore(&sigpipe);
	rc = engine_save(&(const struct save_job) {
		.guest = guest,
		.out = &out.base,
		.hooks = &hooks,
		.limits = &order->config->limits,
		.max_bandwidth = order->config->max_bandwidth,
		.elide_zeroes = elides(order->config, call->io_fd),
		.report = report,
		.stats = stats,
		.live = call->flags & XCFLAGS_LIVE,
		.tracker = order->config->tracker,
		.threads = order->config->content_threads,
		.verify = call->flags & XCFLAGS_DEBUG || order->config->verify_content,
	}, err);
	sigpipe_restore(&sigpipe);
	return rc;
}

int ours_save(const struct save_call *call, const struct config *config, const struct report *report)
{
	const struct save_order order = { call, config };
	const struct run_job job = {
		.xch = call->xch, .domid = call->dom, .access = GUEST_READ, .side = "save",
		.stats_path = config->stats, .run = run, .data = &order,
	};

	return run_on_domain(&job, report);
}
