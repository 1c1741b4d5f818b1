// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOCTL_PRIVCMD_MMAP_RESOURCE: frames the hypervisor keeps for a domain (grant
 * table, ioreq pages), by resource and index; or how many of them there are.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/xen/hypercall.h>
#include <xen/interface/memory.h>
#include <xen/page.h>
#include <xen/privcmd.h>
#include <xen/xen-ops.h>
#include <xen/xenferry_inject.h>

#include "area.h"
#include "privcmd.h"

static int acquire(struct xen_mem_acquire_resource *res)
{
	int rc;

	xen_preemptible_hcall_begin();
	rc = may_fail(-ENOMEM, HYPERVISOR_memory_op(XENMEM_acquire_resource, res));
	xen_preemptible_hcall_end();
	return rc;
}

static long tell_size(const struct privcmd_mmap_resource *cmd,
		      struct privcmd_mmap_resource __user *arg)
{
	struct xen_mem_acquire_resource res = {
		.domid = cmd->dom,
		.type = cmd->type,
		.id = cmd->id,
	};
	int rc = acquire(&res);

	return rc ?: put_user(res.nr_frames, &arg->num);
}

/* The frames go where the area's own pages were. */
static int map_auto(const struct privcmd_mmap_resource *cmd,
		    struct vm_area_struct *vma,
		    struct xen_mem_acquire_resource *res, xen_pfn_t *frames)
{
	struct page **backing = area_of(vma)->backing +
				((cmd->addr - vma->vm_start) >> PAGE_SHIFT);
	unsigned long i;
	int rc;

	for (i = 0; i < cmd->num; i++)
		frames[i] = page_to_xen_pfn(backing[i]);
	rc = acquire(res);
	return rc ?: remap_backing(vma, cmd->addr & PAGE_MASK, cmd->num, backing);
}

static int first_error(const s32 *errors, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		if (errors[i])
			return errors[i];
	return 0;
}

static int map_pv(const struct privcmd_mmap_resource *cmd,
		  struct vm_area_struct *vma,
		  struct xen_mem_acquire_resource *res, xen_pfn_t *frames)
{
	struct remap_request r = {
		.vma = vma,
		.addr = cmd->addr & PAGE_MASK,
		.nr = cmd->num,
		.frames = frames,
		.domid = cmd->dom,
		.no_translate = true,
		.replace = true,
	};
	int rc = acquire(res);

	if (rc)
		return rc;
	if (res->flags & XENMEM_rsrc_acq_caller_owned)
		r.domid = DOMID_SELF;
	r.errors = may_lack(kvcalloc(r.nr, sizeof(*r.errors), GFP_KERNEL));
	if (!r.errors)
		return -ENOMEM;
	rc = area_map(&r) ?: first_error(r.errors, r.nr);
	if (r.stale)
		remap_flush(vma->vm_mm, r.addr, r.nr);
	kvfree(r.errors);
	return rc;
}

static int map_resource(const struct privcmd_mmap_resource *cmd)
{
	struct xen_mem_acquire_resource res = {
		.domid = cmd->dom,
		.type = cmd->type,
		.id = cmd->id,
		.frame = cmd->idx,
		.nr_frames = cmd->num,
	};
	struct vm_area_struct *vma = find_vma(current->mm, cmd->addr);
	xen_pfn_t *frames;
	int rc = -EINVAL;

	if (!vma || !area_is_vma(vma))
		return -EINVAL;
	frames = may_lack(kcalloc(cmd->num, sizeof(*frames),
				  GFP_KERNEL | __GFP_NOWARN));
	if (!frames)
		return -ENOMEM;
	/* In an auto-translated Dom0, an area takes frames from one call only. */
	if (!area_covers(vma, cmd->addr & PAGE_MASK, cmd->num) ||
	    (area_of(vma) && (remap_auto_translated() ||
			      is_cow_mapping(vma->vm_flags))))
		goto out;
	rc = area_of(vma) ? 0 : area_create(vma);
	if (rc)
		goto out;
	set_xen_guest_handle(res.frame_list, frames);
	rc = remap_auto_translated() ? map_auto(cmd, vma, &res, frames) :
				       map_pv(cmd, vma, &res, frames);
out:
	kfree(frames);
	return rc;
}

long resource_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_mmap_resource cmd;
	int rc;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	if (!privcmd_may_touch(pf, cmd.dom))
		return -EPERM;
	/* Either both, to map, or none, to ask for the size. */
	if (!cmd.addr != !cmd.num)
		return -EINVAL;
	if (!cmd.addr)
		return tell_size(&cmd, arg);

	mmap_write_lock(current->mm);
	rc = map_resource(&cmd);
	mmap_write_unlock(current->mm);
	return rc;
}
