// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/xen/hypercall: memory for hypercall arguments. Ordinary pages, all
 * present for as long as they are mapped, which fork() neither takes away nor
 * makes copy-on-write: a hypercall can't fault on them.
 */
#define pr_fmt(fmt) "xen:" KBUILD_MODNAME ": " fmt

#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <xen/xenferry_compat.h>

#include "privcmd.h"

/* What one mmap() made; vmas that came of it by splitting or forking share it. */
struct buffer {
	struct kref users;
	unsigned long nr;
	struct page *pages[];
};

static void buffer_free(struct kref *users)
{
	struct buffer *buffer = container_of(users, struct buffer, users);
	unsigned long i;

	for (i = 0; i < buffer->nr; i++)
		__free_page(buffer->pages[i]);
	kvfree(buffer);
}

static struct buffer *buffer_alloc(unsigned long nr)
{
	struct buffer *buffer;

	if (nr > INT_MAX / sizeof(buffer->pages[0]) / 2)
		return NULL;
	buffer = kvzalloc(struct_size(buffer, pages, nr), GFP_KERNEL);
	if (!buffer)
		return NULL;
	kref_init(&buffer->users);
	for (; buffer->nr < nr; buffer->nr++) {
		buffer->pages[buffer->nr] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!buffer->pages[buffer->nr]) {
			kref_put(&buffer->users, buffer_free);
			return NULL;
		}
	}
	return buffer;
}

static void buffer_vma_open(struct vm_area_struct *vma)
{
	struct buffer *buffer = vma->vm_private_data;

	kref_get(&buffer->users);
}

static void buffer_vma_close(struct vm_area_struct *vma)
{
	struct buffer *buffer = vma->vm_private_data;

	kref_put(&buffer->users, buffer_free);
}

static vm_fault_t buffer_vma_fault(struct vm_fault *vmf)
{
	pr_debug("no page at %lx, in %lx-%lx\n", vmf->address,
		 vmf->vma->vm_start, vmf->vma->vm_end);
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct buffer_vm_ops = {
	.open = buffer_vma_open,
	.close = buffer_vma_close,
	.fault = buffer_vma_fault,
};

static int buffer_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct buffer *buffer;
	int rc;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	buffer = buffer_alloc(vma_pages(vma));
	if (!buffer)
		return -ENOMEM;

	vm_flags_set(vma, VM_IO | VM_DONTEXPAND);
	rc = vm_map_pages_zero(vma, buffer->pages, buffer->nr);
	if (rc) {
		kref_put(&buffer->users, buffer_free);
		return rc;
	}
	vma->vm_ops = &buffer_vm_ops;
	vma->vm_private_data = buffer;
	return 0;
}

const struct file_operations xen_privcmdbuf_fops = {
	.owner = THIS_MODULE,
	.mmap = buffer_mmap,
};

struct miscdevice privcmd_buf_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "xen/hypercall",
	.fops = &xen_privcmdbuf_fops,
};
