/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef XENFERRY_EXPORT_H
#define XENFERRY_EXPORT_H

/* Everything else in the library stays invisible to the program it is loaded into. */
#define EXPORT __attribute__((visibility("default")))

#endif
