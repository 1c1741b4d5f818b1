/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The first line of a file without its end; empty if there is none. */
static void first_line(const char *path, char *out, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(out, size, f))
		out[0] = '\0';
	if (f)
		fclose(f);
	out[strcspn(out, "\n")] = '\0';
}

static void find_xen(struct bench_host *host)
{
	char major[16], minor[16], extra[24];

	first_line("/sys/hypervisor/version/major", major, sizeof(major));
	first_line("/sys/hypervisor/version/minor", minor, sizeof(minor));
	first_line("/sys/hypervisor/version/extra", extra, sizeof(extra));
	if (major[0])
		snprintf(host->xen, sizeof(host->xen), "%s.%s%s", major, minor, extra);
}

static void find_cpu(struct bench_host *host)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (f && !host->cpu[0] && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		snprintf(host->cpu, sizeof(host->cpu), "%.*s", (int)sizeof(host->cpu) - 1, value + 2);
	}
	if (f)
		fclose(f);
}

void bench_host(struct bench_host *out)
{
	struct utsname name;

	memset(out, 0, sizeof(*out));
	first_line("/sys/hypervisor/guest_type", out->dom0, sizeof(out->dom0));
	for (char *c = out->dom0; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (!out->dom0[0])
		strcpy(out->dom0, "unknown");
	if (uname(&name) == 0)
		snprintf(out->kernel, sizeof(out->kernel), "%.64s", name.release);
	find_xen(out);
	find_cpu(out);
}
