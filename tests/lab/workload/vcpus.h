/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thread a CPU, bound to it, that counts: shows that each virtual CPU still runs. */
#ifndef WORKLOAD_VCPUS_H
#define WORKLOAD_VCPUS_H

#include <stdint.h>

#define VCPUS_MAX 128

struct vcpus {
	int count;
	volatile uint64_t ticks[VCPUS_MAX];
};

void vcpus_start(struct vcpus *vcpus);
uint64_t vcpus_slowest(const struct vcpus *vcpus);

#endif
