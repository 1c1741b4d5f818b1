/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>
#include <xenstore.h>

#include "pv.h"

#define CHUNK 1024

static bool is_number(const char *text, uint32_t *out)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*out = (uint32_t)n;
	return !errno && !*end && n < DOMID_FIRST_RESERVED;
}

static bool has_name(struct xs_handle *xs, const char *domid, const char *name)
{
	char path[64], *value;
	unsigned len;
	bool same;

	snprintf(path, sizeof(path), "/local/domain/%s/name", domid);
	value = xs_read(xs, XBT_NULL, path, &len);
	same = value && !strcmp(value, name);
	free(value);
	return same;
}

static int find_name(const char *name, uint32_t *domid)
{
	struct xs_handle *xs = xs_open(0);
	unsigned count = 0;
	char **ids;
	int rc = -ENXIO;

	if (!xs)
		return -errno;
	ids = xs_directory(xs, XBT_NULL, "/local/domain", &count);
	for (unsigned i = 0; ids && i < count && rc; i++)
		if (has_name(xs, ids[i], name) && is_number(ids[i], domid))
			rc = 0;
	free(ids);
	xs_close(xs);
	return rc;
}

int bench_find_domain(const char *domain, struct bench_target *out)
{
	xc_dominfo_t info;
	xc_interface *xch;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (!is_number(domain, &out->domid))
		rc = find_name(domain, &out->domid);
	if (rc < 0)
		return rc;
	xch = xc_interface_open(bench_quiet(), bench_quiet(), 0);
	if (!xch)
		return -errno;
	rc = xc_domain_getinfo(xch, out->domid, 1, &info);
	if (rc < 0)
		rc = errno == EACCES ? -EPROTO : -errno;
	else
		rc = rc == 1 && info.domid == out->domid && !info.dying ? 0 : -ENXIO;
	out->pv = rc == 0 && !info.hvm;
	out->shared_info = info.shared_info_frame;
	xc_interface_close(xch);
	return rc;
}

/* How far the domain's frame numbers go. */
static int last_frame(const struct bench_target *target, uint64_t *out)
{
	xc_interface *xch = xc_interface_open(bench_quiet(), bench_quiet(), 0);
	xen_pfn_t last = 0;
	int rc;

	if (!xch)
		return -errno;
	rc = xc_domain_maximum_gpfn(xch, target->domid, &last) < 0 ? -errno : 0;
	xc_interface_close(xch);
	*out = last;
	return rc;
}

/* Keeps of n frames, not more than CHUNK, those that can be mapped. */
static int keep_mappable(xenforeignmemory_handle *fmem, struct bench_target *target, const xen_pfn_t *frames,
			 size_t n, size_t wanted)
{
	int errs[CHUNK];
	void *at = xenforeignmemory_map(fmem, target->domid, PROT_READ, n, frames, errs);

	if (!at)
		return -errno;
	xenforeignmemory_unmap(fmem, at, n);
	for (size_t i = 0; i < n && target->count < wanted; i++)
		if (!errs[i])
			target->frames[target->count++] = frames[i];
	return 0;
}

static size_t chunk_of(uint64_t left)
{
	return left < CHUNK ? (size_t)left : CHUNK;
}

/* Frame numbers from 0 up. */
static int find_counting(xenforeignmemory_handle *fmem, struct bench_target *target, size_t wanted)
{
	xen_pfn_t frames[CHUNK] = { 0 };
	uint64_t last = 0;
	int rc = last_frame(target, &last);
	size_t n;

	for (uint64_t at = 0; rc == 0 && at <= last && target->count < wanted; at += n) {
		n = chunk_of(last + 1 - at);
		for (size_t i = 0; i < n; i++)
			frames[i] = at + i;
		rc = keep_mappable(fmem, target, frames, n, wanted);
	}
	return rc;
}

/* Those that the guest lists. */
static int find_listed(xenforeignmemory_handle *fmem, struct bench_target *target, size_t wanted)
{
	xen_pfn_t frames[CHUNK] = { 0 };
	size_t listed = 0, n;
	int rc = bench_pv_frames(fmem, target->domid, target->shared_info, target->frames, wanted, &listed);

	/* What is kept is never ahead of what is looked at. */
	for (size_t at = 0; rc == 0 && at < listed; at += n) {
		n = chunk_of(listed - at);
		for (size_t i = 0; i < n; i++)
			frames[i] = target->frames[at + i];
		rc = keep_mappable(fmem, target, frames, n, wanted);
	}
	return rc;
}

/* The same order in every run: a run must be comparable to the next. */
static void scatter(uint64_t *frames, size_t count)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	for (size_t i = count; i > 1; i--) {
		size_t with;
		uint64_t frame = frames[i - 1];

		state = state * 6364136223846793005u + 1442695040888963407u;
		with = (size_t)((state >> 33) % i);
		frames[i - 1] = frames[with];
		frames[with] = frame;
	}
}

int bench_find_frames(struct bench_target *target, size_t wanted)
{
	xenforeignmemory_handle *fmem;
	int rc;

	target->frames = calloc(wanted, sizeof(*target->frames));
	if (!target->frames)
		return -ENOMEM;
	fmem = xenforeignmemory_open(bench_quiet(), 0);
	if (!fmem)
		return -errno;
	rc = target->pv ? find_listed(fmem, target, wanted) : find_counting(fmem, target, wanted);
	xenforeignmemory_close(fmem);
	scatter(target->frames, target->count);
	return rc;
}

void bench_forget(struct bench_target *target)
{
	free(target->frames);
	target->frames = NULL;
	target->count = 0;
}
