// SPDX-License-Identifier: GPL-2.0-only
/*
 * PV: emptying whole page-table pages. Clearing an entry costs the hypervisor
 * much more than the frame behind it: it looks up and locks the page-table page
 * for each. A page that is no page table any more it goes through in one loop.
 * So a page of which all entries are to go is taken out of the level above
 * (which flushes the TLBs), given up as a page table, cleared by ourselves as
 * the ordinary page it then is, and hung in again, empty. Two exits do that for
 * several pages.
 *
 * Nobody can come to the range meanwhile: it lies within one of our areas, and
 * whoever clears it keeps faults out (see remap.h). What walks page tables
 * without a lock finds nothing, or entries it doesn't touch (special).
 */
#include <linux/bitops.h>
#include <linux/mm.h>

#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>

#include <xen/xenferry_compat.h>
#include <xen/xenferry_inject.h>

#include "counters.h"
#include "pv_empty.h"
#include "remap.h"

/* With fewer entries it may cost more than clearing them: a full page costs what 190 do. */
#define WORTH 192

/* The hypercalls for one direction. */
struct exit {
	struct multicall_entry call[1 + 2 * PV_EMPTY_MAX];
	struct mmu_update upper[PV_EMPTY_MAX];
	struct mmuext_op pin[PV_EMPTY_MAX];
	unsigned int calls;
};

/*
 * Whether a page-table page is a case for it; then it is added. The kernel
 * takes each of them for one that the hypervisor is to keep as such (pinned)
 * only where its lock is in it.
 */
bool pv_empty_add(struct pv_empty *tables, const struct pv_table *table)
{
	unsigned int i, ours = 0;

	if (!USE_SPLIT_PTE_PTLOCKS || READ_ONCE(remap_per_frame) ||
	    !PagePinned(virt_to_page(table->pte)))
		return false;
	for (i = 0; i < PTRS_PER_PTE; i++) {
		pte_t pte = READ_ONCE(table->pte[i]);

		if (pv_entry_is_ours(pte))
			ours++;
		else if (!pte_none(pte))
			return false;
	}
	if (ours < WORTH)
		return false;
	tables->pmd[tables->nr] = table->pmd;
	tables->pte[tables->nr] = table->pte;
	tables->nr++;
	tables->entries += ours;
	return true;
}

/* The kernel's own MULTI_*() can't be used: they are traced, for it alone. */
static void add_call(struct exit *exit, unsigned long op, unsigned long arg0,
		     unsigned long arg1, unsigned long arg2, unsigned long arg3)
{
	exit->call[exit->calls++] = (struct multicall_entry) {
		.op = op,
		.result = -EAGAIN,
		.args = { arg0, arg1, arg2, arg3 },
	};
}

static void add_upper(struct exit *exit, const struct pv_empty *tables,
		      const u64 *val)
{
	unsigned int i;

	for (i = 0; i < tables->nr; i++) {
		exit->upper[i].ptr = virt_to_machine(tables->pmd[i]).maddr |
				     MMU_NORMAL_PT_UPDATE;
		exit->upper[i].val = val ? val[i] : 0;
	}
	add_call(exit, __HYPERVISOR_mmu_update, (unsigned long)exit->upper,
		 tables->nr, 0, DOMID_SELF);
}

/* A call each: one that is refused must not keep the next from it. */
static void add_pins(struct exit *exit, const struct pv_empty *tables,
		     unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < tables->nr; i++) {
		exit->pin[i].cmd = cmd;
		exit->pin[i].arg1.mfn = virt_to_mfn(tables->pte[i]);
		add_call(exit, __HYPERVISOR_mmuext_op,
			 (unsigned long)&exit->pin[i], 1, 0, DOMID_SELF);
	}
}

static void add_protection(struct exit *exit, const struct pv_empty *tables,
			   pgprot_t prot)
{
	unsigned int i;

	for (i = 0; i < tables->nr; i++)
		add_call(exit, __HYPERVISOR_update_va_mapping,
			 (unsigned long)tables->pte[i],
			 pte_val_ma(mfn_pte(virt_to_mfn(tables->pte[i]), prot)),
			 0, 0);
}

static bool leave(struct exit *exit)
{
	unsigned int i;

	remap_count(clear_hypercalls, 1);
	if (may_fail(-EINVAL, HYPERVISOR_multicall(exit->call, exit->calls)))
		return false;
	for (i = 0; i < exit->calls; i++)
		if ((long)exit->call[i].result < 0)
			return false;
	return true;
}

/* Bit by bit, which of the pages are ours to write now, and no page tables. */
static unsigned long take_out(const struct pv_empty *tables)
{
	struct exit exit = { .calls = 0 };
	unsigned long out = 0;
	unsigned int i;

	add_upper(&exit, tables, NULL);
	add_pins(&exit, tables, MMUEXT_UNPIN_TABLE);
	add_protection(&exit, tables, PAGE_KERNEL);
	leave(&exit);
	for (i = 0; i < tables->nr; i++)
		if ((long)exit.call[1 + tables->nr + i].result >= 0)
			__set_bit(i, &out);
	return out;
}

static bool hang_in(const struct pv_empty *tables, const u64 *upper)
{
	struct exit exit = { .calls = 0 };

	add_protection(&exit, tables, PAGE_KERNEL_RO);
	add_pins(&exit, tables, MMUEXT_PIN_L1_TABLE);
	add_upper(&exit, tables, upper);
	return leave(&exit);
}

/*
 * 0, or -EAGAIN: some of the tables still have their entries. Of one that was
 * not taken out, or not in full, hanging in changes nothing or the rest.
 */
int pv_empty_tables(struct pv_empty *tables)
{
	u64 upper[PV_EMPTY_MAX];
	unsigned long out;
	unsigned int i;

	for (i = 0; i < tables->nr; i++)
		upper[i] = READ_ONCE(tables->pmd[i]->pmd);
	out = take_out(tables);
	for_each_set_bit(i, &out, tables->nr)
		clear_page(tables->pte[i]);
	/* A second time does no harm to what the first one did. */
	if (!hang_in(tables, upper))
		hang_in(tables, upper);
	if (hweight_long(out) < tables->nr)
		return -EAGAIN;
	remap_count(clear_entries, tables->entries);
	return 0;
}
