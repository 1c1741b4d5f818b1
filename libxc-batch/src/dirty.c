/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os_xenctrl.h"

/* 256 TiB of guest: more than Xen gives, and every size computed from it fits. */
#define FRAMES_MAX (UINT64_C(1) << 36)

struct xcbatch_dirty {
	struct os_xenctrl *os;
	uint64_t frames;
	uint32_t domid;
};

static int switch_on(struct xcbatch_dirty *d, bool takeover)
{
	int rc = os_xenctrl_enable(d->os, d->domid);

	/* EINVAL: it is on already, or this domain can't be tracked at all. */
	if (rc != -EINVAL)
		return rc;
	if (!takeover)
		return -EBUSY;
	rc = os_xenctrl_off(d->os, d->domid);
	return rc < 0 ? rc : os_xenctrl_enable(d->os, d->domid);
}

static int start(uint32_t domid, uint64_t frames, bool takeover, struct xcbatch_dirty **out)
{
	struct xcbatch_dirty *d;
	int rc;

	if (!out || domid >= 0x7ff0 || frames == 0 || frames > FRAMES_MAX)
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->domid = domid;
	d->frames = frames;
	rc = os_xenctrl_open(xcbatch_bitmap_words(frames), &d->os);
	if (rc == 0) {
		rc = switch_on(d, takeover);
		if (rc < 0)
			os_xenctrl_close(d->os);
	}
	if (rc < 0) {
		free(d);
		return rc;
	}
	*out = d;
	return 0;
}

int xcbatch_dirty_start(uint32_t domid, uint64_t frames, struct xcbatch_dirty **out)
{
	return start(domid, frames, false, out);
}

int xcbatch_dirty_takeover(uint32_t domid, uint64_t frames, struct xcbatch_dirty **out)
{
	return start(domid, frames, true, out);
}

static int collect(struct xcbatch_dirty *d, uint64_t *map, uint64_t *dirty, bool last)
{
	size_t words;
	const uint64_t *found;
	int rc;

	if (!d || !map)
		return -EINVAL;
	rc = os_xenctrl_clean(d->os, d->domid, d->frames, last, &found);
	if (rc < 0)
		return rc;
	words = xcbatch_bitmap_words(d->frames);
	memcpy(map, found, words * sizeof(*map));
	/* The hypervisor writes whole bytes. */
	if (d->frames % 64)
		map[words - 1] &= (UINT64_C(1) << (d->frames % 64)) - 1;
	if (dirty)
		*dirty = xcbatch_bitmap_count(map, d->frames);
	return 0;
}

int xcbatch_dirty_collect(struct xcbatch_dirty *d, uint64_t *map, uint64_t *dirty)
{
	return collect(d, map, dirty, false);
}

int xcbatch_dirty_collect_last(struct xcbatch_dirty *d, uint64_t *map, uint64_t *dirty)
{
	return collect(d, map, dirty, true);
}

int xcbatch_dirty_peek(struct xcbatch_dirty *d, uint64_t *dirty)
{
	if (!d || !dirty)
		return -EINVAL;
	return os_xenctrl_peek(d->os, d->domid, dirty);
}

void xcbatch_dirty_leave_on(struct xcbatch_dirty *d)
{
	if (!d)
		return;
	os_xenctrl_close(d->os);
	free(d);
}

int xcbatch_dirty_stop(struct xcbatch_dirty *d)
{
	int rc;

	if (!d)
		return 0;
	rc = os_xenctrl_off(d->os, d->domid);
	xcbatch_dirty_leave_on(d);
	return rc;
}
