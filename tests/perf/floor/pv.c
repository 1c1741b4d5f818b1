// SPDX-License-Identifier: GPL-2.0-only
/* PV: bare mmu_update calls on a mapping made for the purpose. */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include "floor.h"

struct pv_round {
	struct mmu_update *map, *replace, *clear;
	unsigned int nr;
	domid_t domid;
	unsigned int entered, failed;
};

static int note_entry(pte_t *pte, unsigned long addr, void *data)
{
	u64 **at = data;

	*(*at)++ = arbitrary_virt_to_machine(pte).maddr;
	return 0;
}

/* Page-table pages for the whole range, and where in them its entries are. */
static u64 *find_entries(struct vm_area_struct *vma, unsigned int nr)
{
	u64 *maddr = kvmalloc_array(nr, sizeof(*maddr), GFP_KERNEL), *at = maddr;

	if (!maddr)
		return NULL;
	if (apply_to_page_range(vma->vm_mm, vma->vm_start,
				(unsigned long)nr * PAGE_SIZE, note_entry, &at)) {
		kvfree(maddr);
		return NULL;
	}
	return maddr;
}

static int prepare(struct pv_round *r, const struct floor_round *round,
		   struct vm_area_struct *vma)
{
	u64 flags = pte_val_ma(pte_mkspecial(mfn_pte(0, vma->vm_page_prot)));
	u64 *maddr = find_entries(vma, r->nr);
	struct mmu_update *e;
	unsigned int i;

	e = kvmalloc_array(3 * (size_t)r->nr, sizeof(*e), GFP_KERNEL);
	if (!maddr || !e) {
		kvfree(maddr);
		kvfree(e);
		return -ENOMEM;
	}
	r->map = e;
	r->replace = e + r->nr;
	r->clear = e + 2 * r->nr;
	for (i = 0; i < r->nr; i++) {
		u64 ptr = maddr[i] | MMU_NORMAL_PT_UPDATE;
		u64 other = round->others ? round->others[i] : 0;

		r->map[i] = (struct mmu_update) {
			.ptr = ptr, .val = round->frames[i] << PAGE_SHIFT | flags };
		r->replace[i] = (struct mmu_update) {
			.ptr = ptr, .val = other << PAGE_SHIFT | flags };
		r->clear[i] = (struct mmu_update) { .ptr = ptr };
	}
	kvfree(maddr);
	return 0;
}

static u64 update(struct pv_round *r, struct mmu_update *entry, domid_t domid)
{
	unsigned int at = 0;
	u64 begin = floor_clock();

	while (at < r->nr) {
		int done = 0;

		r->entered++;
		if (HYPERVISOR_mmu_update(entry + at, r->nr - at, &done, domid) >= 0)
			break;
		at += clamp_t(int, done, 0, r->nr - at - 1) + 1;
		r->failed++;
	}
	return floor_clock() - begin;
}

static u64 flush(void)
{
	struct mmuext_op op = {
		.cmd = MMUEXT_TLB_FLUSH_MULTI,
		.arg2.vcpumask = cpumask_bits(mm_cpumask(current->mm)),
	};
	u64 begin = floor_clock();

	HYPERVISOR_mmuext_op(&op, 1, NULL, DOMID_SELF);
	return floor_clock() - begin;
}

static void measure(struct pv_round *r, const struct floor_round *round)
{
	struct xenferry_floor *ask = round->ask;

	ask->map = update(r, r->map, r->domid);
	ask->entered = r->entered;
	ask->failed = r->failed;
	if (round->others) {
		r->failed = 0;
		ask->replace = update(r, r->replace, r->domid);
		ask->failed += r->failed;
	}
	ask->unmap = update(r, r->clear, DOMID_SELF);
	ask->flush = flush();
}

int floor_pv(struct floor_round *round)
{
	struct pv_round r = { .nr = round->ask->num, .domid = round->ask->domid };
	unsigned long size = (unsigned long)r.nr * PAGE_SIZE;
	unsigned long addr = vm_mmap(round->file, 0, size, PROT_READ, MAP_SHARED, 0);
	struct vm_area_struct *vma;
	int rc = -EINTR;

	if (IS_ERR_VALUE(addr))
		return addr;
	if (mmap_write_lock_killable(current->mm))
		goto unmap;
	/* Another thread may have put something else there meanwhile. */
	vma = vma_lookup(current->mm, addr);
	rc = -EINVAL;
	if (vma && vma->vm_file == round->file && vma->vm_start == addr &&
	    vma->vm_end == addr + size)
		rc = prepare(&r, round, vma);
	if (!rc) {
		measure(&r, round);
		kvfree(r.map);
		if (round->ask->failed >= r.nr)
			rc = -EIO;
	}
	mmap_write_unlock(current->mm);
unmap:
	vm_munmap(addr, size);
	return rc;
}
