// SPDX-License-Identifier: GPL-2.0-only
/*
 * IOCTL_PRIVCMD_IOEVENTFD: a guest's write to a virtio queue's notify register
 * signals an eventfd, without the device model being asked. The requests are
 * seen in the pages of an ioreq server, which the caller has mapped with
 * MMAP_RESOURCE, and come by an event channel a vCPU.
 */
#define pr_fmt(fmt) "xen:" KBUILD_MODNAME ": " fmt

#include "eventfd.h"
#include "privcmd.h"

#ifdef HAVE_EVENTFD_CALLS

#include <linux/eventfd.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/virtio_mmio.h>

#include <xen/events.h>
#include <xen/interface/hvm/ioreq.h>
#include <xen/xenferry_inject.h>

#include "area.h"

#define MOST_VCPUS 4096
#define QUEUE_MASK 0xffff
#define REQUESTS_A_PAGE (PAGE_SIZE / sizeof(struct ioreq))

/* One eventfd of a server: what a write must be to signal it. */
struct watched_write {
	struct list_head link;
	struct eventfd_ctx *eventfd;
	u64 addr;
	unsigned int size;
	unsigned int queue;
};

struct server_vcpu {
	struct ioreq_server *server;
	volatile struct ioreq *request;
	evtchn_port_t port;
};

/* An ioreq server whose requests are looked at. */
struct ioreq_server {
	struct list_head link;
	struct area *area;	/* its pages; gone with them */
	u64 addr;		/* where the caller has mapped them */
	domid_t domid;
	unsigned int vcpus;
	spinlock_t lock;	/* of the list */
	struct list_head writes;
	struct server_vcpu vcpu[];
};

/* Taken inside mmap_lock. */
static DEFINE_MUTEX(servers_mutex);
static LIST_HEAD(servers);

static bool signal_write(struct ioreq_server *server, volatile struct ioreq *request)
{
	struct watched_write *w;
	bool found = false;

	spin_lock(&server->lock);
	list_for_each_entry(w, &server->writes, link) {
		if (request->addr != w->addr + VIRTIO_MMIO_QUEUE_NOTIFY ||
		    request->size != w->size ||
		    (request->data & QUEUE_MASK) != w->queue)
			continue;
		request->state = STATE_IOREQ_INPROCESS;
		eventfd_signal(w->eventfd);
		found = true;
		break;
	}
	spin_unlock(&server->lock);
	return found;
}

/* The channel is the device model's, too: what isn't for an eventfd is left to it. */
static irqreturn_t request_came(int irq, void *data)
{
	struct server_vcpu *vcpu = data;
	volatile struct ioreq *request = vcpu->request;

	if (request->state != STATE_IOREQ_READY)
		return IRQ_NONE;
	virt_rmb();	/* the request was written before its state */
	if (request->type != IOREQ_TYPE_COPY || request->dir != IOREQ_WRITE ||
	    !signal_write(vcpu->server, request))
		return IRQ_NONE;
	virt_wmb();
	request->state = STATE_IORESP_READY;
	notify_remote_via_evtchn(vcpu->port);
	return IRQ_HANDLED;
}

static void vcpus_unbind(struct ioreq_server *server, unsigned int nr)
{
	while (nr--)
		unbind_from_irqhandler(irq_from_evtchn(server->vcpu[nr].port),
				       &server->vcpu[nr]);
}

static int vcpus_bind(struct ioreq_server *server, const u32 *ports)
{
	unsigned int i;
	int rc;

	for (i = 0; i < server->vcpus; i++) {
		server->vcpu[i].server = server;
		server->vcpu[i].port = ports[i];
		rc = bind_evtchn_to_irqhandler_lateeoi(ports[i], request_came,
						       IRQF_SHARED, "ioeventfd",
						       &server->vcpu[i]);
		if (rc < 0) {
			vcpus_unbind(server, i);
			return rc;
		}
	}
	return 0;
}

/* Where the server's requests are: mmap_lock is held. */
static int find_requests(struct ioreq_server *server)
{
	struct vm_area_struct *vma = vma_lookup(current->mm, server->addr);
	unsigned long first, i;

	if (!vma)
		return -EFAULT;
	server->area = area_is_vma(vma) ? area_of(vma) : NULL;
	if (!server->area || !server->area->backing)
		return -EINVAL;
	first = (server->addr - vma->vm_start) >> PAGE_SHIFT;
	for (i = 0; i < server->vcpus; i++) {
		unsigned long page = first + i / REQUESTS_A_PAGE;
		struct ioreq *requests;

		if (page >= server->area->nr)
			return -EINVAL;
		requests = page_to_virt(server->area->backing[page]);
		server->vcpu[i].request = requests + i % REQUESTS_A_PAGE;
	}
	return 0;
}

static struct ioreq_server *server_new(const struct privcmd_ioeventfd *cmd,
				       const u32 *ports)
{
	struct ioreq_server *server;
	int rc;

	server = may_lack(kvzalloc(struct_size(server, vcpu, cmd->vcpus), GFP_KERNEL));
	if (!server)
		return ERR_PTR(-ENOMEM);
	server->addr = cmd->ioreq;
	server->domid = cmd->dom;
	server->vcpus = cmd->vcpus;
	spin_lock_init(&server->lock);
	INIT_LIST_HEAD(&server->writes);
	rc = find_requests(server);
	if (!rc)
		rc = PTR_ERR_OR_ZERO(ports);
	if (!rc)
		rc = vcpus_bind(server, ports);
	if (rc) {
		kvfree(server);
		return ERR_PTR(rc);
	}
	list_add_tail(&server->link, &servers);
	return server;
}

static void write_free(struct watched_write *w)
{
	eventfd_ctx_put(w->eventfd);
	kfree(w);
}

static void server_end(struct ioreq_server *server)
{
	struct watched_write *w, *next;

	list_del(&server->link);
	vcpus_unbind(server, server->vcpus);
	list_for_each_entry_safe(w, next, &server->writes, link)
		write_free(w);
	kvfree(server);
}

static struct watched_write *write_find(struct ioreq_server *server,
					const struct eventfd_ctx *eventfd)
{
	struct watched_write *w;

	list_for_each_entry(w, &server->writes, link)
		if (w->eventfd == eventfd)
			return w;
	return NULL;
}

/* servers_mutex is held, under which alone the lists are changed. */
static int write_add(const struct privcmd_ioeventfd *cmd, const u32 *ports,
		     struct watched_write *w)
{
	struct ioreq_server *server;

	list_for_each_entry(server, &servers, link) {
		if (server->addr != cmd->ioreq)
			continue;
		if (server->domid != cmd->dom || server->vcpus != cmd->vcpus)
			return -EINVAL;
		if (write_find(server, w->eventfd))
			return -EBUSY;
		goto found;
	}
	server = server_new(cmd, ports);
	if (IS_ERR(server))
		return PTR_ERR(server);
found:
	spin_lock_irq(&server->lock);
	list_add_tail(&w->link, &server->writes);
	spin_unlock_irq(&server->lock);
	return 0;
}

static bool is_watchable(const struct privcmd_ioeventfd *cmd)
{
	return cmd->addr + cmd->addr_len >= cmd->addr &&
	       (cmd->addr_len == 1 || cmd->addr_len == 2 || cmd->addr_len == 4 ||
		cmd->addr_len == 8) &&
	       cmd->vcpus && cmd->vcpus <= MOST_VCPUS;
}

static int ioeventfd_assign(const struct privcmd_ioeventfd *cmd)
{
	struct watched_write *w;
	u32 *ports;
	int rc;

	if (!is_watchable(cmd))
		return -EINVAL;
	w = may_lack(kzalloc(sizeof(*w), GFP_KERNEL));
	if (!w)
		return -ENOMEM;
	w->addr = cmd->addr;
	w->size = cmd->addr_len;
	w->queue = cmd->vq;
	w->eventfd = eventfd_ctx_fdget(cmd->event_fd);
	rc = PTR_ERR_OR_ZERO(w->eventfd);
	if (rc) {
		kfree(w);
		return rc;
	}
	/* An error in it counts only where the ports are needed. */
	ports = memdup_user(u64_to_user_ptr(cmd->ports), cmd->vcpus * sizeof(*ports));
	mmap_write_lock(current->mm);
	mutex_lock(&servers_mutex);
	rc = write_add(cmd, ports, w);
	mutex_unlock(&servers_mutex);
	mmap_write_unlock(current->mm);
	if (!IS_ERR(ports))
		kfree(ports);
	if (rc)
		write_free(w);
	return rc;
}

static struct ioreq_server *server_find(const struct privcmd_ioeventfd *cmd)
{
	struct ioreq_server *server;

	list_for_each_entry(server, &servers, link)
		if (server->domid == cmd->dom && server->addr == cmd->ioreq &&
		    server->vcpus == cmd->vcpus)
			return server;
	return NULL;
}

static int ioeventfd_deassign(const struct privcmd_ioeventfd *cmd)
{
	struct eventfd_ctx *eventfd = eventfd_ctx_fdget(cmd->event_fd);
	struct watched_write *w = NULL;
	struct ioreq_server *server;

	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	mutex_lock(&servers_mutex);
	server = server_find(cmd);
	if (server)
		w = write_find(server, eventfd);
	if (w) {
		spin_lock_irq(&server->lock);
		list_del(&w->link);
		spin_unlock_irq(&server->lock);
		write_free(w);
		if (list_empty(&server->writes))
			server_end(server);
	}
	mutex_unlock(&servers_mutex);
	eventfd_ctx_put(eventfd);
	return w ? 0 : -ENODEV;
}

long ioeventfd_ioctl(struct privcmd_file *pf, void __user *arg)
{
	struct privcmd_ioeventfd cmd;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	if (cmd.flags & ~PRIVCMD_IOEVENTFD_FLAG_DEASSIGN)
		return -EINVAL;
	if (!privcmd_may_touch(pf, cmd.dom))
		return -EPERM;
	return cmd.flags & PRIVCMD_IOEVENTFD_FLAG_DEASSIGN ?
		ioeventfd_deassign(&cmd) : ioeventfd_assign(&cmd);
}

/* Its pages are given back next: nobody may look at them any more. */
void ioeventfd_area_goes(struct area *area)
{
	struct ioreq_server *server, *next;

	if (!area->backing)
		return;
	mutex_lock(&servers_mutex);
	list_for_each_entry_safe(server, next, &servers, link)
		if (server->area == area)
			server_end(server);
	mutex_unlock(&servers_mutex);
}

void ioeventfd_stop(void)
{
	struct ioreq_server *server, *next;

	mutex_lock(&servers_mutex);
	list_for_each_entry_safe(server, next, &servers, link)
		server_end(server);
	mutex_unlock(&servers_mutex);
}

#elif defined(IOCTL_PRIVCMD_IRQFD)

long ioeventfd_ioctl(struct privcmd_file *pf, void __user *arg)
{
	return -EOPNOTSUPP;
}

#endif
