/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "os_xenctrl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xenctrl.h>
#include <xentoollog.h>

#define WORDS_PER_PAGE (XC_PAGE_SIZE / sizeof(uint64_t))

struct os_xenctrl {
	xc_interface *xch;
	size_t words;
	xc_hypercall_buffer_t buffer;
};

/* libxenctrl prints to stderr unless it is given a logger. */
static void no_message(struct xentoollog_logger *logger, xentoollog_level level, int errnoval,
		       const char *context, const char *format, va_list al)
{
	(void)logger, (void)level, (void)errnoval, (void)context, (void)format, (void)al;
}

static void no_progress(struct xentoollog_logger *logger, const char *context,
			const char *doing_what, int percent, unsigned long done,
			unsigned long total)
{
	(void)logger, (void)context, (void)doing_what, (void)percent, (void)done, (void)total;
}

static void no_destroy(struct xentoollog_logger *logger)
{
	(void)logger;
}

static struct xentoollog_logger silent = { no_message, no_progress, no_destroy };

static int pages_of(size_t words)
{
	return (int)((words + WORDS_PER_PAGE - 1) / WORDS_PER_PAGE);
}

/*
 * Xen answers EACCES to a control call of another interface version, and to
 * nothing else: a caller without the right gets EPERM.
 */
static int domctl_error(void)
{
	return errno == EACCES ? -EPROTO : -errno;
}

static int alloc_buffer(struct os_xenctrl *os)
{
	DECLARE_HYPERCALL_BUFFER(uint64_t, map);

	if (os->words == 0)
		return 0;
	map = xc_hypercall_buffer_alloc_pages(os->xch, map, pages_of(os->words));
	if (!map)
		return -ENOMEM;
	os->buffer = *HYPERCALL_BUFFER(map);
	return 0;
}

int os_xenctrl_open(size_t words, struct os_xenctrl **out)
{
	struct os_xenctrl *os = calloc(1, sizeof(*os));
	int rc;

	if (!os)
		return -ENOMEM;
	os->words = words;
	os->xch = xc_interface_open(&silent, &silent, 0);
	rc = os->xch ? alloc_buffer(os) : errno ? -errno : -ENODEV;
	if (rc < 0) {
		if (os->xch)
			xc_interface_close(os->xch);
		free(os);
		return rc;
	}
	*out = os;
	return 0;
}

void os_xenctrl_close(struct os_xenctrl *os)
{
	if (os->words) {
		DECLARE_HYPERCALL_BUFFER_SHADOW(uint64_t, map, &os->buffer);

		xc_hypercall_buffer_free_pages(os->xch, map, pages_of(os->words));
	}
	xc_interface_close(os->xch);
	free(os);
}

int os_xenctrl_enable(struct os_xenctrl *os, uint32_t domid)
{
	int rc = xc_shadow_control(os->xch, domid, XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY, NULL, 0);

	return rc < 0 ? domctl_error() : 0;
}

int os_xenctrl_off(struct os_xenctrl *os, uint32_t domid)
{
	int rc = xc_shadow_control(os->xch, domid, XEN_DOMCTL_SHADOW_OP_OFF, NULL, 0);

	return rc < 0 ? domctl_error() : 0;
}

int os_xenctrl_clean(struct os_xenctrl *os, uint32_t domid, uint64_t frames,
		     bool last, const uint64_t **map)
{
	xc_shadow_op_stats_t stats;
	long long covered;
	DECLARE_HYPERCALL_BUFFER_SHADOW(uint64_t, buffer, &os->buffer);

	/* The hypervisor leaves what lies beyond the guest's last frame as it was. */
	memset(buffer, 0, os->words * sizeof(*buffer));
	covered = xc_logdirty_control(os->xch, domid, XEN_DOMCTL_SHADOW_OP_CLEAN,
				      HYPERCALL_BUFFER(buffer), frames,
				      last ? XEN_DOMCTL_SHADOW_LOGDIRTY_FINAL : 0, &stats);
	if (covered < 0)
		return domctl_error();
	*map = buffer;
	return 0;
}

int os_xenctrl_peek(struct os_xenctrl *os, uint32_t domid, uint64_t *dirty)
{
	xc_shadow_op_stats_t stats;

	if (xc_logdirty_control(os->xch, domid, XEN_DOMCTL_SHADOW_OP_PEEK, NULL, 0, 0, &stats) < 0)
		return domctl_error();
	*dirty = stats.dirty_count;
	return 0;
}

int os_xenctrl_version(unsigned *version)
{
	struct os_xenctrl *os;
	int rc = os_xenctrl_open(0, &os), got;

	if (rc < 0)
		return rc;
	got = xc_version(os->xch, XENVER_version, NULL);
	rc = got < 0 ? -errno : 0;
	os_xenctrl_close(os);
	if (rc == 0)
		*version = (unsigned)got;
	return rc;
}

unsigned os_xenctrl_interface(void)
{
	return XEN_DOMCTL_INTERFACE_VERSION;
}
