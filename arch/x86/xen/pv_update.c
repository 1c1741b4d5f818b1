// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>

#include <asm/xen/hypercall.h>

#include "pv_update.h"

/*
 * Carries out nr updates. The hypervisor stops at the first one it refuses and
 * says how many it did before, so the call is repeated from the entry behind
 * it, unless go_on is false. Returns the number of hypercalls.
 */
unsigned int pv_update(struct mmu_update *entry, unsigned int nr, domid_t domid,
		       bool go_on, pv_failed_fn failed, void *data)
{
	unsigned int at = 0, calls = 0;

	while (at < nr) {
		int done = 0;
		int rc = HYPERVISOR_mmu_update(entry + at, nr - at, &done, domid);

		calls++;
		if (rc >= 0)
			break;
		at += clamp_t(int, done, 0, nr - at - 1);
		failed(at++, rc, data);
		if (!go_on)
			break;
		/* There is no such domain: it would be asked in vain for the rest. */
		while (rc == -ESRCH && at < nr)
			failed(at++, rc, data);
	}
	return calls;
}
