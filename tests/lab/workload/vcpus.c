// SPDX-License-Identifier: LGPL-2.1-or-later
#include "vcpus.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

static void *count_up(void *counter)
{
	const struct timespec nap = { 0, 200000000 };
	volatile uint64_t *ticks = counter;

	for (;;) {
		(*ticks)++;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void start_on(struct vcpus *vcpus, int cpu)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	pthread_create(&thread, &attr, count_up, (void *)&vcpus->ticks[cpu]);
	pthread_attr_destroy(&attr);
}

void vcpus_start(struct vcpus *vcpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	vcpus->count = CPU_COUNT(&set) > VCPUS_MAX ? VCPUS_MAX : CPU_COUNT(&set);
	for (int cpu = 0; cpu < vcpus->count; cpu++)
		start_on(vcpus, cpu);
}

uint64_t vcpus_slowest(const struct vcpus *vcpus)
{
	uint64_t least = vcpus->ticks[0];

	for (int cpu = 1; cpu < vcpus->count; cpu++)
		if (vcpus->ticks[cpu] < least)
			least = vcpus->ticks[cpu];
	return least;
}
