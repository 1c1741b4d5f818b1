/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The caller's logger, so that xl prints our sentences as it prints stock's. */
#ifndef XENFERRY_LOGGER_H
#define XENFERRY_LOGGER_H

#include <xenctrl.h>

#include "engine/report.h"

/* Fills *out with what reports through the handle's own logger. */
void logger_report(xc_interface *xch, struct report *out);

#endif
