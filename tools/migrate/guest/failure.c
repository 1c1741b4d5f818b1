// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/failure.h"

#include <errno.h>
#include <string.h>

static const char *advice(int rc)
{
	switch (rc) {
	case -ESRCH:
		return "the domain is gone, look with \"xl list\"";
	case -EPERM:
	case -EACCES:
		return "the right to do that is missing, run it as root in Dom0";
	case -ENOMEM:
		return "memory is short in Dom0 or in Xen, free some";
	case -EBUSY:
		return "another migration of it is under way, wait for its end";
	case -EALREADY:
		return "somebody has its dirty pages already, another migration or \"xenferry dirty-rate\", and still"
		       " had them after a wait: let that end, or end it, and try again";
	case -EOPNOTSUPP:
		return "this Xen can't do it for such a guest, use \"xl save\" and \"xl restore\"";
	case -EPROTO:
		return "the running Xen is of another version than xenferry was built for, build it for this one";
	default:
		return "see what Xen says in \"xl dmesg\"";
	}
}

int failure(struct xf_error *err, int rc, const struct guest *g, const char *doing)
{
	return xf_error_set(err, rc, "%s of domain %u failed (%s); %s.", doing, g->domid,
			    strerror(-rc), advice(rc));
}

int failure_from(struct xf_error *err, const struct xf_error *cause)
{
	return xf_error_set(err, cause->code, "%s", cause->text);
}
