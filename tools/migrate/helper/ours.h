/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same calls, done by our engine. */
#ifndef XENFERRY_OURS_H
#define XENFERRY_OURS_H

#include "engine/report.h"
#include "helper/config.h"
#include "helper/passthrough.h"

/* Whether the engine handles such a call; otherwise it is for libxenguest. */
bool ours_can_save(const struct save_call *call);
bool ours_can_restore(const struct restore_call *call);

/* As the stock functions: 0, or -1 with errno set and the cause reported. */
int ours_save(const struct save_call *call, const struct config *config, const struct report *report);
int ours_restore(const struct restore_call *call, const struct config *config, const struct report *report);

#endif
