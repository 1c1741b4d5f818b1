/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences about what a guest op refused. */
#ifndef XENFERRY_FAILURE_H
#define XENFERRY_FAILURE_H

#include "guest/guest.h"
#include "stream/error.h"

/*
 * "<doing> of domain N failed (<errno>); <what to do>." doing: "Reading the
 * HVM context". Returns rc.
 */
int failure(struct xf_error *err, int rc, const struct guest *g, const char *doing);

/* The cause another layer has put into words already. Returns its code. */
int failure_from(struct xf_error *err, const struct xf_error *cause);

#endif
