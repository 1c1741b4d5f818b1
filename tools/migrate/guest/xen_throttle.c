// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/mman.h>

#include "guest/xen_guest.h"

/* What the guard needs to undo it when we are gone; it shares this memory. */
struct xen_throttle {
	volatile bool on;
	int scheduler;		/* XEN_SCHEDULER_* */
	uint16_t weight, cap;	/* as they were found; cap: percent of a CPU, 0: none */
};

struct xen_throttle *xen_throttle_new(void)
{
	void *p = mmap(NULL, sizeof(struct xen_throttle), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void xen_throttle_free(struct xen_throttle *t)
{
	if (t)
		munmap(t, sizeof(*t));
}

static int get(xc_interface *xch, uint32_t domid, struct xen_throttle *t)
{
	struct xen_domctl_sched_credit2 credit2 = { 0 };
	struct xen_domctl_sched_credit credit = { 0 };

	switch (t->scheduler) {
	case XEN_SCHEDULER_CREDIT2:
		if (xc_sched_credit2_domain_get(xch, domid, &credit2))
			return xen_error();
		t->weight = credit2.weight;
		t->cap = credit2.cap;
		return 0;
	case XEN_SCHEDULER_CREDIT:
		if (xc_sched_credit_domain_get(xch, domid, &credit))
			return xen_error();
		t->weight = credit.weight;
		t->cap = credit.cap;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int set(xc_interface *xch, uint32_t domid, const struct xen_throttle *t, uint16_t cap)
{
	struct xen_domctl_sched_credit2 credit2 = { .weight = t->weight, .cap = cap };
	struct xen_domctl_sched_credit credit = { .weight = t->weight, .cap = cap };
	int rc = t->scheduler == XEN_SCHEDULER_CREDIT2 ? xc_sched_credit2_domain_set(xch, domid, &credit2)
						       : xc_sched_credit_domain_set(xch, domid, &credit);

	return rc ? xen_error() : 0;
}

/* The scheduler is that of the domain's CPU pool, which need not be the host's. */
static int look(xc_interface *xch, uint32_t domid, struct xen_throttle *t, unsigned *vcpus)
{
	xc_domaininfo_t dom;
	xc_cpupoolinfo_t *pool;

	if (xc_domain_getinfolist(xch, domid, 1, &dom) != 1 || dom.domain != domid)
		return -ESRCH;
	pool = xc_cpupool_getinfo(xch, dom.cpupool);
	if (!pool)
		return xen_error();
	t->scheduler = (int)pool->sched_id;
	xc_cpupool_infofree(xch, pool);
	*vcpus = dom.nr_online_vcpus;
	return t->on ? 0 : get(xch, domid, t);
}

int xen_throttle_undo(struct xen_throttle *t, xc_interface *xch, uint32_t domid)
{
	int rc;

	if (!t || !t->on)
		return 0;
	rc = set(xch, domid, t, t->cap);
	if (!rc)
		t->on = false;
	return rc;
}

int xen_throttle(struct guest *g, unsigned percent)
{
	struct xen_guest *x = xen_guest(g);
	struct xen_throttle *t = x->throttle;
	unsigned vcpus, all;
	int rc;

	if (!t)
		return -EINVAL;
	if (percent >= 100)
		return xen_throttle_undo(t, x->xch, g->domid);
	rc = look(x->xch, g->domid, t, &vcpus);
	if (rc)
		return rc;
	all = t->cap ? t->cap : 100 * vcpus;
	/* Said first: should we be killed in between, undoing nothing does no harm. */
	t->on = true;
	rc = set(x->xch, g->domid, t, (uint16_t)(all * percent / 100 ? all * percent / 100 : 1));
	if (rc)
		xen_throttle_undo(t, x->xch, g->domid);
	return rc;
}
