/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XENFERRY_PRIVCMD_AREA_WATCH_H
#define XENFERRY_PRIVCMD_AREA_WATCH_H

#include "area.h"

/* area_watch.c */
int area_watch_arm(struct area *area, struct vm_area_struct *vma);
void area_watch_disarm(struct area *area, struct vm_area_struct *vma);

/* area_move.c */
void area_move_begins(struct vm_area_struct *copy);
int area_moved(struct vm_area_struct *copy);
void area_move_ended(struct area *area, struct vm_area_struct *gone);
void area_park(struct area *area, struct mm_struct *mm, unsigned long area_start,
	       unsigned long start, unsigned long end);

#endif
