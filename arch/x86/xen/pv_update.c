// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>

#include <asm/xen/hypercall.h>

#include "counters.h"
#include "pv_update.h"
#include "remap.h"

bool remap_per_frame;

static void flush_all(void)
{
	struct mmuext_op op = { .cmd = MMUEXT_TLB_FLUSH_ALL };

	HYPERVISOR_mmuext_op(&op, 1, NULL, DOMID_SELF);
	remap_count(flushes, 1);
}

/*
 * Carries out nr updates. The hypervisor stops at the first one it refuses and
 * says how many it did before, so the call is repeated from the entry behind
 * it, unless go_on is false. Returns the number of hypercalls.
 */
unsigned int pv_update(struct mmu_update *entry, unsigned int nr, domid_t domid,
		       bool go_on, pv_failed_fn failed, void *data)
{
	bool singly = READ_ONCE(remap_per_frame);
	unsigned int at = 0, calls = 0;

	while (at < nr) {
		unsigned int part = singly ? 1 : nr - at;
		int done = 0;
		int rc = HYPERVISOR_mmu_update(entry + at, part, &done, domid);

		calls++;
		if (singly)
			flush_all();
		if (rc >= 0) {
			at += part;
			continue;
		}
		at += clamp_t(int, done, 0, part - 1);
		failed(at++, rc, data);
		if (!go_on)
			break;
		/* There is no such domain: it would be asked in vain for the rest. */
		while (rc == -ESRCH && at < nr)
			failed(at++, rc, data);
	}
	return calls;
}
