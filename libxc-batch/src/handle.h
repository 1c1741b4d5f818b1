/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef HANDLE_H
#define HANDLE_H

#include "os_privcmd.h"

struct xcbatch {
	struct os_privcmd os;
};

#endif
