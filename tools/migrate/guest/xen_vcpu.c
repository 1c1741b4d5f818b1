// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of a PV guest's vCPU, each part by a call of its own. */
#include <stdlib.h>
#include <string.h>

#include "guest/xen_guest.h"

int xen_vcpu_online(struct guest *g, unsigned vcpu, bool *online)
{
	xc_vcpuinfo_t info;

	if (xc_vcpu_getinfo(xen_guest(g)->xch, g->domid, vcpu, &info))
		return xen_error();
	*online = info.online;
	return 0;
}

/* ---- get ---------------------------------------------------------------- */

static int copy_out(const void *from, size_t size, struct guest_blob *out)
{
	void *data = malloc(size ? size : 1);

	if (!data)
		return -ENOMEM;
	memcpy(data, from, size);
	*out = (struct guest_blob) { data, size };
	return 0;
}

static int get_basic(struct xen_guest *x, unsigned vcpu, struct guest_blob *out)
{
	vcpu_guest_context_any_t context;

	if (xc_vcpu_getcontext(x->xch, x->base.domid, vcpu, &context))
		return xen_error();
	return copy_out(&context.x64, sizeof(context.x64), out);
}

static int get_extended(struct xen_guest *x, unsigned vcpu, struct guest_blob *out)
{
	struct xen_domctl op = {
		.cmd = XEN_DOMCTL_get_ext_vcpucontext, .domain = (domid_t)x->base.domid,
		.u.ext_vcpucontext.vcpu = vcpu,
	};
	size_t size;

	if (xc_domctl(x->xch, &op) < 0)
		return xen_error();
	size = op.u.ext_vcpucontext.size;
	if (size > sizeof(op.u.ext_vcpucontext))
		return -EPROTO;
	return copy_out(&op.u.ext_vcpucontext, size, out);
}

static int get_xsave(struct xen_guest *x, unsigned vcpu, struct guest_blob *out)
{
	struct xen_domctl op = {
		.cmd = XEN_DOMCTL_getvcpuextstate, .domain = (domid_t)x->base.domid,
		.u.vcpuextstate.vcpu = vcpu,
	};
	DECLARE_HYPERCALL_BUFFER(void, buffer);
	int rc;

	/* The first time it says how much there is. */
	if (xc_domctl(x->xch, &op) < 0)
		return xen_error();
	if (!op.u.vcpuextstate.xfeature_mask)
		return 0;
	buffer = xc_hypercall_buffer_alloc(x->xch, buffer, op.u.vcpuextstate.size);
	if (!buffer)
		return -ENOMEM;
	set_xen_guest_handle(op.u.vcpuextstate.buffer, buffer);
	rc = xc_domctl(x->xch, &op) < 0 ? xen_error() : copy_out(buffer, op.u.vcpuextstate.size, out);
	xc_hypercall_buffer_free(x->xch, buffer);
	return rc;
}

static int get_msrs(struct xen_guest *x, unsigned vcpu, struct guest_blob *out)
{
	struct xen_domctl op = {
		.cmd = XEN_DOMCTL_get_vcpu_msrs, .domain = (domid_t)x->base.domid,
		.u.vcpu_msrs.vcpu = vcpu,
	};
	DECLARE_HYPERCALL_BUFFER(void, buffer);
	int rc;

	if (xc_domctl(x->xch, &op) < 0)
		return xen_error();
	if (!op.u.vcpu_msrs.msr_count)
		return 0;
	buffer = xc_hypercall_buffer_alloc(x->xch, buffer, op.u.vcpu_msrs.msr_count * sizeof(xen_domctl_vcpu_msr_t));
	if (!buffer)
		return -ENOMEM;
	set_xen_guest_handle(op.u.vcpu_msrs.msrs, buffer);
	/* Only those that aren't 0 come, so there may be fewer than there is room for. */
	rc = xc_domctl(x->xch, &op) < 0 ? xen_error() :
	     copy_out(buffer, op.u.vcpu_msrs.msr_count * sizeof(xen_domctl_vcpu_msr_t), out);
	xc_hypercall_buffer_free(x->xch, buffer);
	return rc;
}

int xen_vcpu_get(struct guest *g, unsigned vcpu, enum guest_vcpu_part part, struct guest_blob *out)
{
	static int (*const get[GUEST_VCPU_PARTS])(struct xen_guest *, unsigned, struct guest_blob *) = {
		get_basic, get_extended, get_xsave, get_msrs,
	};

	*out = (struct guest_blob) { NULL, 0 };
	return get[part](xen_guest(g), vcpu, out);
}

/* ---- set ---------------------------------------------------------------- */

static int set_basic(struct xen_guest *x, unsigned vcpu, const struct guest_blob *in)
{
	vcpu_guest_context_any_t context = { 0 };

	if (in->size != sizeof(context.x64))
		return -EINVAL;
	memcpy(&context.x64, in->data, sizeof(context.x64));
	return xc_vcpu_setcontext(x->xch, x->base.domid, vcpu, &context) ? xen_error() : 0;
}

/* Which vCPU it is for and how long it is stands in there, too: that is not the sender's to say. */
static int set_extended(struct xen_guest *x, unsigned vcpu, const struct guest_blob *in)
{
	struct xen_domctl op = { .cmd = XEN_DOMCTL_set_ext_vcpucontext, .domain = (domid_t)x->base.domid };

	if (in->size > sizeof(op.u.ext_vcpucontext))
		return -EINVAL;
	memcpy(&op.u.ext_vcpucontext, in->data, in->size);
	op.u.ext_vcpucontext.vcpu = vcpu;
	op.u.ext_vcpucontext.size = (uint32_t)in->size;
	return xc_domctl(x->xch, &op) ? xen_error() : 0;
}

static int set_xsave(struct xen_guest *x, unsigned vcpu, const struct guest_blob *in)
{
	struct xen_domctl op = {
		.cmd = XEN_DOMCTL_setvcpuextstate, .domain = (domid_t)x->base.domid,
		.u.vcpuextstate = { .vcpu = vcpu, .size = in->size },
	};
	DECLARE_HYPERCALL_BUFFER(void, buffer);
	int rc;

	buffer = xc_hypercall_buffer_alloc(x->xch, buffer, in->size);
	if (!buffer)
		return -ENOMEM;
	memcpy(buffer, in->data, in->size);
	set_xen_guest_handle(op.u.vcpuextstate.buffer, buffer);
	rc = xc_domctl(x->xch, &op) ? xen_error() : 0;
	xc_hypercall_buffer_free(x->xch, buffer);
	return rc;
}

static int set_msrs(struct xen_guest *x, unsigned vcpu, const struct guest_blob *in)
{
	struct xen_domctl op = {
		.cmd = XEN_DOMCTL_set_vcpu_msrs, .domain = (domid_t)x->base.domid,
		.u.vcpu_msrs = { .vcpu = vcpu, .msr_count = (uint32_t)(in->size / sizeof(xen_domctl_vcpu_msr_t)) },
	};
	DECLARE_HYPERCALL_BUFFER(void, buffer);
	int rc;

	buffer = xc_hypercall_buffer_alloc(x->xch, buffer, in->size);
	if (!buffer)
		return -ENOMEM;
	memcpy(buffer, in->data, in->size);
	set_xen_guest_handle(op.u.vcpu_msrs.msrs, buffer);
	rc = xc_domctl(x->xch, &op) ? xen_error() : 0;
	xc_hypercall_buffer_free(x->xch, buffer);
	return rc;
}

int xen_vcpu_set(struct guest *g, unsigned vcpu, enum guest_vcpu_part part, const struct guest_blob *in)
{
	static int (*const set[GUEST_VCPU_PARTS])(struct xen_guest *, unsigned, const struct guest_blob *) = {
		set_basic, set_extended, set_xsave, set_msrs,
	};

	return set[part](xen_guest(g), vcpu, in);
}
