// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/xen.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <xcbatch.h>
#include <xenctrl.h>

#include "guest/guard.h"

/* Shared with the guard. */
struct switched {
	bool on;	/* log-dirty is, by us */
};

struct watched_domain {
	struct guest base;
	const char *lock;
	xc_interface *xch;
	struct xcbatch_dirty *dirty;
	struct guard guard;
	struct switched *switched;
};

static struct watched_domain *domain(struct guest *g)
{
	return (struct watched_domain *)g;	/* base is the first member */
}

static int failed(void)
{
	return errno ? -errno : -EIO;
}

static int get_info(struct guest *g, struct guest_info *out)
{
	struct watched_domain *d = domain(g);
	xc_dominfo_t dom;
	xen_pfn_t frames;
	int found = xc_domain_getinfo(d->xch, g->domid, 1, &dom);

	if (found < 0)
		return failed();
	/* The call gives the next domain where there is none of this number. */
	if (!found || dom.domid != g->domid)
		return -ESRCH;
	if (xc_domain_nr_gpfns(d->xch, g->domid, &frames) < 0)
		return failed();
	*out = (struct guest_info) {
		.hvm = dom.hvm, .shut_down = dom.shutdown, .frames = frames,
		.suspended = dom.shutdown && dom.shutdown_reason == SHUTDOWN_suspend,
		.reason = dom.shutdown_reason,
	};
	return 0;
}

static int held(struct guest *g, uint64_t *pages)
{
	xc_domaininfo_t dom;
	int found = xc_domain_getinfolist(domain(g)->xch, g->domid, 1, &dom);

	if (found < 0)
		return failed();
	if (!found || dom.domain != g->domid)
		return -ESRCH;
	*pages = dom.tot_pages;
	return 0;
}

/* ---- off again ---------------------------------------------------------- */

/*
 * Somebody who takes log-dirty over switches it off and on: the bitmap begins anew, the count
 * goes on until he collects. Where both agree it is ours still. 1, 0 or a negative errno.
 */
static int is_ours(xc_interface *xch, uint32_t domid)
{
	DECLARE_HYPERCALL_BUFFER(uint64_t, map);
	xc_shadow_op_stats_t stats = { 0 };
	xen_pfn_t frames;
	size_t bytes;
	int rc;

	/* All frames there are now: what was plugged in since has been counted, too. */
	if (xc_domain_nr_gpfns(xch, domid, &frames) < 0)
		return failed();
	bytes = xcbatch_bitmap_words(frames) * sizeof(*map);
	map = xc_hypercall_buffer_alloc_pages(xch, map, (bytes + XC_PAGE_SIZE - 1) / XC_PAGE_SIZE);
	if (!map)
		return -ENOMEM;
	if (xc_logdirty_control(xch, domid, XEN_DOMCTL_SHADOW_OP_PEEK, HYPERCALL_BUFFER(map), frames, 0, &stats) < 0)
		rc = failed();
	else
		rc = xcbatch_bitmap_count(map, frames) == stats.dirty_count;
	xc_hypercall_buffer_free_pages(xch, map, (bytes + XC_PAGE_SIZE - 1) / XC_PAGE_SIZE);
	return rc;
}

/* In the guard's process, our own being gone. */
static void undo(uint32_t domid, enum guard_why why, void *switched)
{
	xc_interface *xch;

	(void)why;

	if (!((struct switched *)switched)->on)
		return;
	xch = xc_interface_open(NULL, NULL, 0);
	if (!xch)
		return;
	if (is_ours(xch, domid))
		xc_shadow_control(xch, domid, XEN_DOMCTL_SHADOW_OP_OFF, NULL, 0);
	xc_interface_close(xch);
}

/* ---- the ops ------------------------------------------------------------ */

static int dirty_start(struct guest *g, uint64_t frames)
{
	struct watched_domain *d = domain(g);
	int rc = guard_start(&d->guard, d->lock, g->domid, 0, undo, d->switched);

	if (rc)
		return rc == -EBUSY ? -EALREADY : rc;
	rc = xcbatch_dirty_start(g->domid, frames, &d->dirty);
	if (rc)
		guard_end(&d->guard);
	/* Killed just before this, we leave it on, which the next migration mends; but never off for others. */
	d->switched->on = !rc;
	return rc;
}

static int dirty_collect(struct guest *g, bool last, uint64_t *map, uint64_t *dirty)
{
	(void)last;
	return xcbatch_dirty_collect(domain(g)->dirty, map, dirty);
}

static int dirty_peek(struct guest *g, uint64_t *dirty)
{
	return xcbatch_dirty_peek(domain(g)->dirty, dirty);
}

static int dirty_stop(struct guest *g)
{
	struct watched_domain *d = domain(g);
	int rc = 0;

	if (!d->dirty)
		return 0;
	/* Where Xen doesn't say, off is right: it was we who switched it on. */
	if (is_ours(d->xch, g->domid))
		rc = xcbatch_dirty_stop(d->dirty);
	else
		rc = -ESTALE;	/* the library's handle can't be let go without switching off: it goes with us */
	d->dirty = NULL;
	d->switched->on = false;
	guard_end(&d->guard);
	return rc;
}

static void close_domain(struct guest *g)
{
	struct watched_domain *d = domain(g);

	dirty_stop(g);
	xc_interface_close(d->xch);
	munmap(d->switched, sizeof(*d->switched));
	free(d);
}

int watch_xen_open(struct xentoollog_logger *logger, uint32_t domid, const char *lock, struct guest **out)
{
	static const struct guest_ops ops = {
		.close = close_domain, .info = get_info, .held = held, .dirty_start = dirty_start,
		.dirty_collect = dirty_collect, .dirty_peek = dirty_peek, .dirty_stop = dirty_stop,
	};
	struct watched_domain *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->base = (struct guest) { &ops, domid };
	d->lock = lock;
	d->switched = mmap(NULL, sizeof(*d->switched), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d->switched == MAP_FAILED) {
		free(d);
		return -ENOMEM;
	}
	d->xch = xc_interface_open(logger, logger, 0);
	if (!d->xch) {
		int rc = failed();

		munmap(d->switched, sizeof(*d->switched));
		free(d);
		return rc;
	}
	*out = &d->base;
	return 0;
}
