// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <stdlib.h>

#include "guest/xen_guest.h"

#include <xenguest.h>	/* needs xenctrl.h before it */

int xen_param_get(struct guest *g, uint32_t index, uint64_t *value)
{
	return xc_hvm_param_get(xen_guest(g)->xch, g->domid, index, value) ? xen_error() : 0;
}

int xen_param_set(struct guest *g, uint32_t index, uint64_t value)
{
	return xc_hvm_param_set(xen_guest(g)->xch, g->domid, index, value) ? xen_error() : 0;
}

int xen_tsc_get(struct guest *g, struct guest_tsc *out)
{
	if (xc_domain_get_tsc_info(xen_guest(g)->xch, g->domid, &out->mode, &out->nsec,
				   &out->khz, &out->incarnation))
		return xen_error();
	return 0;
}

int xen_tsc_set(struct guest *g, const struct guest_tsc *tsc)
{
	if (xc_domain_set_tsc_info(xen_guest(g)->xch, g->domid, tsc->mode, tsc->nsec,
				   tsc->khz, tsc->incarnation))
		return xen_error();
	return 0;
}

int xen_context_get(struct guest *g, struct guest_blob *out)
{
	struct xen_guest *x = xen_guest(g);
	int size = xc_domain_hvm_getcontext(x->xch, g->domid, NULL, 0);
	void *data;
	int error;

	if (size < 0)
		return xen_error();
	data = calloc(1, (size_t)size);
	if (!data)
		return -ENOMEM;
	size = xc_domain_hvm_getcontext(x->xch, g->domid, data, (uint32_t)size);
	if (size < 0) {
		error = xen_error();
		free(data);
		return error;
	}
	*out = (struct guest_blob) { data, (size_t)size };
	return 0;
}

int xen_context_set(struct guest *g, const struct guest_blob *context)
{
	if (xc_domain_hvm_setcontext(xen_guest(g)->xch, g->domid, context->data,
				     (uint32_t)context->size))
		return xen_error();
	return 0;
}

static int serialise(struct xen_guest *x, xc_cpu_policy_t *policy,
		     struct guest_blob *cpuid, struct guest_blob *msrs)
{
	uint32_t leaves, entries;

	if (xc_cpu_policy_get_size(x->xch, &leaves, &entries) ||
	    xc_cpu_policy_get_domain(x->xch, x->base.domid, policy))
		return xen_error();
	cpuid->data = calloc(leaves, sizeof(xen_cpuid_leaf_t));
	msrs->data = calloc(entries, sizeof(xen_msr_entry_t));
	if (!cpuid->data || !msrs->data)
		return -ENOMEM;
	if (xc_cpu_policy_serialise(x->xch, policy, cpuid->data, &leaves, msrs->data, &entries))
		return xen_error();
	cpuid->size = leaves * sizeof(xen_cpuid_leaf_t);
	msrs->size = entries * sizeof(xen_msr_entry_t);
	return 0;
}

int xen_policy_get(struct guest *g, struct guest_blob *cpuid, struct guest_blob *msrs)
{
	xc_cpu_policy_t *policy = xc_cpu_policy_init();
	int rc;

	*cpuid = *msrs = (struct guest_blob) { NULL, 0 };
	if (!policy)
		return -ENOMEM;
	rc = serialise(xen_guest(g), policy, cpuid, msrs);
	if (rc) {
		guest_blob_free(cpuid);
		guest_blob_free(msrs);
	}
	xc_cpu_policy_destroy(policy);
	return rc;
}

int xen_policy_set(struct guest *g, const struct guest_blob *cpuid,
		   const struct guest_blob *msrs, char *why, size_t size)
{
	uint32_t leaf = ~0u, subleaf = ~0u, msr = ~0u;
	int rc;

	if (size)
		*why = 0;
	if (!xc_set_domain_cpu_policy(xen_guest(g)->xch, g->domid,
				      (uint32_t)(cpuid->size / sizeof(xen_cpuid_leaf_t)), cpuid->data,
				      (uint32_t)(msrs->size / sizeof(xen_msr_entry_t)), msrs->data,
				      &leaf, &subleaf, &msr))
		return 0;
	rc = xen_error();
	if (leaf != ~0u)
		snprintf(why, size, "CPUID leaf 0x%08x subleaf 0x%08x", leaf, subleaf);
	else if (msr != ~0u)
		snprintf(why, size, "MSR 0x%08x", msr);
	return rc;
}

int xen_grants_seed(struct guest *g, const struct guest_seed *s)
{
	if (xc_dom_gnttab_seed(xen_guest(g)->xch, g->domid, true, s->console_gfn, s->store_gfn,
			       s->console_domid, s->store_domid))
		return xen_error();
	return 0;
}
