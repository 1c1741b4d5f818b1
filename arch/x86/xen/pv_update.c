// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include <xen/xenferry_inject.h>

#include "counters.h"
#include "pv_update.h"
#include "remap.h"

bool remap_per_frame;

void pv_flush_all(void)
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
		int rc = may_fail(-EINVAL, HYPERVISOR_mmu_update(entry + at, part,
								 &done, domid));

		calls++;
		if (singly)
			pv_flush_all();
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

struct emptying {
	struct mmu_update *entry;
	unsigned int refused;
};

/* As the kernel itself would do it: slow, and sure. */
static void empty_by_write(unsigned int index, int error, void *data)
{
	struct emptying *e = data;
	u64 maddr = e->entry[index].ptr;
	pte_t *table = mfn_to_virt(maddr >> PAGE_SHIFT);

	set_pte(table + offset_in_page(maddr) / sizeof(pte_t), __pte(0));
	e->refused++;
}

void pv_update_empty(struct mmu_update *entry, unsigned int nr)
{
	struct emptying e = { .entry = entry };

	remap_count(clear_hypercalls, pv_update(entry, nr, DOMID_SELF, true,
						empty_by_write, &e));
	remap_count(clear_entries, nr - e.refused);
}
